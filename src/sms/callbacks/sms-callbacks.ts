import { Injectable } from '@nestjs/common';
import { type ErrorCode, MessagingError, StorageUnavailableError } from '../../common/errors.js';
import type { IncomingCall } from '../../http/incoming-call.js';
import { CarrierSink } from '../receipts/carrier-sink.js';
import { SmsSettings } from '../sms-options.js';
import { type CallbackAnswer, SmsTransport } from '../sms-transport.js';

/** Errors for a handler's refusal without a body, by status. */
const REFUSALS: Readonly<Record<number, ErrorCode>> = {
  400: 'error.callback_unreadable',
  403: 'error.callback_refused',
  404: 'error.callback_not_found',
  415: 'error.callback_charset_unknown',
};

/** Passes carriers' calls to the transport. */
@Injectable()
export class SmsCallbacks {
  constructor(
    private readonly transport: SmsTransport,
    private readonly settings: SmsSettings,
    private readonly sink: CarrierSink,
  ) {}

  /**
   * Passes a call to the transport's handler. Returns the handler's answer after the content of the call is stored.
   * @throws MessagingError `error.callback_not_found` for an unknown name and for the handler's own 404.
   * `error.callback_refused`, `error.callback_unreadable`, `error.callback_charset_unknown`, `error.storage_unavailable`
   */
  async receive(
    name: string,
    { origin, target, ...call }: IncomingCall,
    body: Uint8Array,
    secret?: string,
  ): Promise<CallbackAnswer> {
    const handler = this.transport.callbacks.get(name);
    // Frameworks route HEAD to GET. No carrier uses HEAD, and its content must not be stored.
    if (!handler || call.method === 'HEAD') throw new MessagingError('error.callback_not_found');
    const url = `${this.settings.callbackBaseUrl ?? origin}${target}`;
    const answer = await handler({ ...call, url, body, secret }, this.sink);
    if (answer.body !== undefined && answer.body !== '') return answer;
    const refusal = REFUSALS[answer.status];
    if (refusal) throw new MessagingError(refusal);
    if (answer.status === 503) throw new StorageUnavailableError(`The transport ${this.transport.name} is not ready.`);
    return answer;
  }
}
