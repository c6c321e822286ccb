import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { type ArgumentsHost, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Cancellation } from '../common/concurrency/async.js';
import { requestIn, responseIn } from '../common/http-context.js';
import { requestContextOf } from './request-context.js';
import { pathOf } from './route-table.js';

/** The unparsed body on a route with `rawBody`; empty if there is none. */
export const RawBody = createParamDecorator((_data: unknown, context: ExecutionContext): Uint8Array => {
  const { body } = requestIn<{ readonly body?: unknown }>(context);
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
});

/** The body as a stream on a route with `streamed`; undefined if the body has another media type. */
export const BodyStream = createParamDecorator((_data: unknown, context: ExecutionContext): Readable | undefined => {
  const { body } = requestIn<{ readonly body?: unknown }>(context);
  return body instanceof Readable ? body : undefined;
});

/** A handler's request: Express extends Node's, Fastify wraps it. */
type PlatformRequest = IncomingMessage & { readonly raw?: IncomingMessage };

/** Node's request below the platform's. */
export function rawRequest(context: ArgumentsHost): IncomingMessage {
  const request = requestIn<PlatformRequest>(context);
  return request.raw ?? request;
}

/**
 * An `AbortSignal` that is aborted at the request's deadline, or when the client disconnects. It is created only for handlers
 * that take it.
 */
export const RequestSignal = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const req = rawRequest(context);
  return requestContextOf(req)?.signal ?? new AbortController().signal;
});

/** When the request arrived, by the clock's `elapsed`; undefined on a platform on which requests have no deadline. */
export const ArrivedAt = createParamDecorator(
  (_data: unknown, context: ExecutionContext): number | undefined => requestContextOf(rawRequest(context))?.openedAt,
);

/** The headers of the request, as Node parses them. */
export const RequestHeaders = createParamDecorator((_data: unknown, context: ExecutionContext): IncomingHttpHeaders => {
  return rawRequest(context).headers;
});

/** The address at the other end of the connection, which no header changes; undefined once it is closed. */
export const ConnectionAddress = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string | undefined => rawRequest(context).socket.remoteAddress,
);

const NEVER_ABORTED: Cancellation = { aborted: false, reason: undefined };

/** As `RequestSignal`, for handlers that only check whether the request is aborted. */
export const RequestCancellation = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Cancellation =>
    requestContextOf(rawRequest(context))?.beginHandler() ?? NEVER_ABORTED,
);

/** The common part of Express's and Fastify's requests. The host's `trust proxy` decides on protocol and host. */
interface PathRequest {
  readonly protocol: string;
  readonly host: string | undefined;
  readonly originalUrl: string;
}

/** A valid `Host` header (RFC 9112 section 3.2), which the caller controls. */
const HOST = /^([\w.-]+|\[[\da-f:.]+\])(:\d+)?$/i;

/** The URL of the request without its query; only the path when the request has no valid host. */
export const RequestUrl = createParamDecorator((_data: unknown, context: ExecutionContext): string => {
  const { protocol, host, originalUrl } = requestIn<PathRequest>(context);
  const path = pathOf(originalUrl);
  return host !== undefined && HOST.test(host) ? `${protocol}://${host}${path}` : path;
});

/** Lets a handler set headers and the status of its answer. */
export interface ReplyHeaders {
  /** Replaces the header. Does nothing once the answer has begun (504 at the deadline). */
  set(name: string, value: string): void;
  /** Adds a `Set-Cookie` header to those of the host. Does nothing once the answer has begun. */
  addCookie(cookie: string): void;
  /** Replaces the status of the handler. Does nothing once the answer has begun. */
  status(code: number): void;
}

/** The common part of Express's response and Fastify's reply. */
interface PlatformResponse {
  readonly headersSent?: boolean;
  header(name: string, value: string): unknown;
  /** Express only. Fastify adds a cookie to the existing ones by itself. */
  append?(name: string, value: string): unknown;
  status(code: number): unknown;
}

/** Access to the headers and the status of the answer, on both platforms; the body is what the handler returns. */
export const ReplyHeaders = createParamDecorator((_data: unknown, context: ExecutionContext) => replyOf(context));

/** The value that `@ReplyHeaders()` gives to a handler. */
export function replyOf(context: ExecutionContext): ReplyHeaders {
  const response = responseIn<PlatformResponse>(context);
  return {
    set: (name, value) => {
      if (!response.headersSent) response.header(name, value);
    },
    addCookie: (cookie) => {
      if (response.headersSent) return;
      if (response.append) response.append('Set-Cookie', cookie);
      else response.header('Set-Cookie', cookie);
    },
    status: (code) => {
      if (!response.headersSent) response.status(code);
    },
  };
}
