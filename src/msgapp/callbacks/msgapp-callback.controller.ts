import { Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { IncomingCall } from '../../http/incoming-call.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { RawBody, ReplyHeaders } from '../../http/parameters.js';
import { MsgappCallbacks } from './msgapp-callbacks.js';

/** The maximum size of an app's call, in bytes. Meta's have at most 3 MB. */
const MAX_BYTES = 3 * 1_048_576;

/** Receives the calls of apps. They need no API key: the transport checks the app's signature. */
@MessagingController({ authenticated: false })
export class MsgappCallbackController {
  constructor(private readonly callbacks: MsgappCallbacks) {}

  @Post('callbacks/:app')
  @HttpCode(200)
  @MessagingRoute({ rawBody: MAX_BYTES })
  async call(
    @Param('app') app: string,
    @IncomingCall() call: IncomingCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    const answer = await this.callbacks.receive(app, call, body);
    headers.set('Content-Type', 'text/plain; charset=utf-8');
    return answer;
  }

  @Get('callbacks/:app')
  @Header('Cache-Control', 'no-store')
  @MessagingRoute({ rawBody: 0 })
  callByGet(
    @Param('app') app: string,
    @IncomingCall() call: IncomingCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return this.call(app, call, body, headers);
  }
}
