import { Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { MessagingController } from '../http/messaging-controller.js';
import { MessagingRoute } from '../http/mounted-routes.js';
import { RawBody, ReplyHeaders } from '../http/parameters.js';
import { CarrierCall, SmsCallbacks } from './sms-callbacks.js';
import type { CallbackAnswer } from './sms-transport.js';

/** The largest call of a carrier, in bytes: some hand in hundreds of receipts at once. */
const MOST_BYTES = 1_048_576;

/** Where carriers call. No API key is asked for: the transport proves the call, by its signature or by the secret. */
@MessagingController({ authenticated: false })
export class SmsCallbackController {
  constructor(private readonly callbacks: SmsCallbacks) {}

  @Post('sms/callbacks/:transport')
  @HttpCode(200)
  @MessagingRoute({ rawBody: MOST_BYTES })
  async call(
    @Param('transport') transport: string,
    @CarrierCall() call: CarrierCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return answered(await this.callbacks.receive(transport, call, body), headers);
  }

  @Post('sms/callbacks/:transport/:secret')
  @HttpCode(200)
  @MessagingRoute({ rawBody: MOST_BYTES })
  async callWithSecret(
    @Param('transport') transport: string,
    @Param('secret') secret: string,
    @CarrierCall() call: CarrierCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return answered(await this.callbacks.receive(transport, call, body, secret), headers);
  }

  @Get('sms/callbacks/:transport')
  @Header('Cache-Control', 'no-store')
  @MessagingRoute({ rawBody: 0 })
  callByGet(
    @Param('transport') transport: string,
    @CarrierCall() call: CarrierCall,
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
    @CarrierCall() call: CarrierCall,
    @RawBody() body: Uint8Array,
    @ReplyHeaders() headers: ReplyHeaders,
  ): Promise<string> {
    return this.callWithSecret(transport, secret, call, body, headers);
  }
}

function answered({ status, body = '', contentType }: CallbackAnswer, headers: ReplyHeaders): string {
  headers.status(status);
  headers.set('Content-Type', contentType ?? 'text/plain; charset=utf-8');
  return body;
}
