import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestContextOf } from './request-context.js';
import { pathOf } from './route-table.js';

/** The body as it came, on a route with `rawBody`; empty when there is none. */
export const RawBody = createParamDecorator((_data: unknown, context: ExecutionContext): Uint8Array => {
  const { body } = context.switchToHttp().getRequest<{ readonly body?: unknown }>();
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
});

/** A request as a handler gets it: Express extends Node's, Fastify wraps it. */
type PlatformRequest = IncomingMessage & { readonly raw?: IncomingMessage };

/** Node's request below the platform's. */
export function rawRequest(context: ExecutionContext): IncomingMessage {
  const request = context.switchToHttp().getRequest<PlatformRequest>();
  return request.raw ?? request;
}

/**
 * An `AbortSignal` that is aborted when the answer is no longer waited for: the request's time is over, or the client
 * has hung up. It costs nothing to handlers that do not ask for it.
 */
export const RequestSignal = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const req = rawRequest(context);
  return requestContextOf(req)?.signal ?? new AbortController().signal;
});

/** A request as Express and Fastify show it; protocol and host are what the host's `trust proxy` makes of them. */
interface PathRequest {
  readonly protocol: string;
  readonly host: string | undefined;
  readonly originalUrl: string;
}

/** What `Host` may be (RFC 9112 section 3.2): a caller writes it. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** The URL that the request was made to, without its query; only the path when the request names no host. */
export const RequestUrl = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const { protocol, host, originalUrl } = context.switchToHttp().getRequest<PathRequest>();
  const path = pathOf(originalUrl);
  return host !== undefined && HOST.test(host) ? `${protocol}://${host}${path}` : path;
});

/** Sets headers and the status of the answer, from a handler. */
export interface ReplyHeaders {
  /** Replaces the header. Does nothing once the answer is on its way (the deadline's 504). */
  set(name: string, value: string): void;
  /** Answers with this status in the place of the handler's own. Does nothing once the answer is on its way. */
  status(code: number): void;
}

/** What Express's response and Fastify's reply have in common. */
interface PlatformResponse {
  readonly headersSent?: boolean;
  header(name: string, value: string): unknown;
  status(code: number): unknown;
}

/** The headers of the answer, on both platforms; the answer itself stays what the handler returns. */
export const ReplyHeaders = createParamDecorator((_data: unknown, context: ExecutionContext): ReplyHeaders => {
  const response = context.switchToHttp().getResponse<PlatformResponse>();
  return {
    set: (name, value) => {
      if (!response.headersSent) response.header(name, value);
    },
    status: (code) => {
      if (!response.headersSent) response.status(code);
    },
  };
});
