import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, Injectable } from '@nestjs/common';
import { type ErrorCode, MessagingError, StorageUnavailableError } from '../common/errors.js';
import { rawRequest } from '../http/parameters.js';
import { CarrierSink } from './receipts/carrier-sink.js';
import { SmsSettings } from './sms-options.js';
import { type CallbackAnswer, SmsTransport } from './sms-transport.js';

/** Refusals that the handler of a transport leaves without words. */
const REFUSALS: Readonly<Record<number, ErrorCode>> = {
  400: 'error.callback_unreadable',
  403: 'error.callback_refused',
  404: 'error.callback_not_found',
};

/** Hands carriers' calls to the transport that they are for. */
@Injectable()
export class SmsCallbacks {
  constructor(
    private readonly transport: SmsTransport,
    private readonly settings: SmsSettings,
    private readonly sink: CarrierSink,
  ) {}

  /**
   * The transport's answer to a call, when what it says is stored.
   * @throws MessagingError `error.callback_not_found` for a name that no transport has, and for the transport's own 404;
   *   `error.callback_refused`, `error.callback_unreadable`, `error.storage_unavailable`
   */
  async receive(
    name: string,
    { origin, target, ...call }: CarrierCall,
    body: Uint8Array,
    secret?: string,
  ): Promise<CallbackAnswer> {
    const handler = this.transport.callbacks.get(name);
    // Frameworks answer a HEAD by the GET; no carrier calls so, and what it says must not be stored.
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

/** A carrier's call below its body. */
export interface CarrierCall {
  readonly method: string;
  /** Scheme and host as the request has them, without a slash at the end. */
  readonly origin: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** A carrier's call as it reached this process, on both platforms. */
export const CarrierCall = createParamDecorator((_data: unknown, context: ExecutionContext): CarrierCall => {
  const req = rawRequest(context);
  // A host's middleware may have rewritten `url`; both platforms keep what came.
  const { originalUrl } = context.switchToHttp().getRequest<{ readonly originalUrl?: string }>();
  return {
    method: req.method ?? '',
    origin: originOf(req),
    target: (originalUrl ?? req.url ?? '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, ''),
    headers: oneEach(req.headers),
  };
});

function originOf({ headers, socket }: IncomingMessage): string {
  return `${'encrypted' in socket ? 'https' : 'http'}://${headers[':authority'] ?? headers.host ?? ''}`;
}

/** Node joins what comes twice itself, except for a few headers. */
function oneEach(headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}
