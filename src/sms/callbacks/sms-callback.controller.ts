import { Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { IncomingCall } from '../../http/incoming-call.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { RawBody, ReplyHeaders } from '../../http/parameters.js';
import type { CallbackAnswer } from '../sms-transport.js';
import { SmsCallbacks } from './sms-callbacks.js';

/** The maximum size of a carrier's call, in bytes. Some carriers send hundreds of receipts per call. */
const MAX_BYTES = 1_048_576;

/**
 * Receives carriers' callbacks. They need no API key: the transport authenticates them by a signature or a secret path.
 */
@MessagingController({ authenticated: false })
export class SmsCallbackController {
  constructor(private readonly callbacks: SmsCallbacks) {}

  @Post('sms/callbacks/:transport')
  @HttpCode(200)
  @MessagingRoute({ rawBody: MAX_BYTES })
  async call(
    @Param('transport') transport: string,
    @IncomingCall() call: IncomingCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return writeAnswer(await this.callbacks.receive(transport, call, body), headers);
  }

  @Post('sms/callbacks/:transport/:secret')
  @HttpCode(200)
  @MessagingRoute({ rawBody: MAX_BYTES })
  async callWithSecret(
    @Param('transport') transport: string,
    @Param('secret') secret: string,
    @IncomingCall() call: IncomingCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return writeAnswer(await this.callbacks.receive(transport, call, body, secret), headers);
  }

  @Get('sms/callbacks/:transport')
  @Header('Cache-Control', 'no-store')
  @MessagingRoute({ rawBody: 0 })
  callByGet(
    @Param('transport') transport: string,
    @IncomingCall() call: IncomingCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return this.call(transport, call, body, headers);
  }

  @Get('sms/callbacks/:transport/:secret')
  @Header('Cache-Control', 'no-store')
  @MessagingRoute({ rawBody: 0 })
  callByGetWithSecret(
    @Param('transport') transport: string,
    @Param('secret') secret: string,
    @IncomingCall() call: IncomingCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return this.callWithSecret(transport, secret, call, body, headers);
  }
}

function writeAnswer({ status, body = '', contentType }: CallbackAnswer, headers: ReplyHeaders): string {
  headers.status(status);
  headers.set('Content-Type', contentType ?? 'text/plain; charset=utf-8');
  return body;
}
