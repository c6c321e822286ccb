import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { type ErrorCode, MessagingError, StorageUnavailableError } from '../../common/errors.js';
import { requestIn } from '../../common/http-context.js';
import { rawRequest } from '../../http/parameters.js';
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
    { origin, target, ...call }: CarrierCall,
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

/** A carrier's call without its body. */
export interface CarrierCall {
  readonly method: string;
  /** The scheme and host of the request, without a trailing slash. */
  readonly origin: string;
  /** The path and query, unchanged. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Injects a carrier's call in the form that this process received, on Express and Fastify. */
export const CarrierCall = createParamDecorator((_data: unknown, context: ExecutionContext): CarrierCall => {
  const req = rawRequest(context);
  // A host's middleware may have rewritten `url`. Both platforms keep the original.
  const { originalUrl } = requestIn<{ readonly originalUrl?: string }>(context);
  return {
    method: req.method ?? '',
    origin: originOf(req),
    target: (originalUrl ?? req.url ?? '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, ''),
    headers: joinRepeated(req.headers),
  };
});

function originOf({ headers, socket }: IncomingMessage): string {
  return `${'encrypted' in socket ? 'https' : 'http'}://${headers[':authority'] ?? headers.host ?? ''}`;
}

/** Joins the values of repeated headers. Node does so itself, except for a few headers. */
function joinRepeated(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
