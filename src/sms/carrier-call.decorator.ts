import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { rawRequest } from '../http/raw-request.js';

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
