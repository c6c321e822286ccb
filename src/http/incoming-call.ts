import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestIn } from '../common/http-context.js';
import { rawRequest } from './parameters.js';

/** The call of another system, such as a carrier, without its body. */
export interface IncomingCall {
  readonly method: string;
  /** The scheme and host of the request, without a trailing slash. */
  readonly origin: string;
  /** The path and query, unchanged. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** Injects a call in the form that this process received, on Express and Fastify. */
export const IncomingCall = createParamDecorator((_data: unknown, context: ExecutionContext): IncomingCall => {
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
