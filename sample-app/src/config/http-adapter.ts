import type { Server } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';

/** What serves HTTP. */
export function httpAdapter(name: 'express' | 'fastify') {
  if (name === 'express') return new ExpressAdapter();
  // What Fastify's router refuses before any route is ours to see: in the shape of all our errors, see docs/http-api.md.
  return new FastifyAdapter({
    // NestJS 11 reads its own option of this name on Express only.
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1000 },
    frameworkErrors: (_error: unknown, _request: unknown, reply: FastifyReply) => {
      void reply
        .code(400)
        .header('X-Error-Code', 'request_invalid')
        .send({ statusCode: 400, message: 'Requête invalide', error: 'Bad Request' });
    },
  });
}

/** Milliseconds that a server waits for a client. */
export interface ServerTimeouts {
  /** For the headers of a request, also the first one of a connection. */
  readonly headersTimeout: number;
  /** For a whole request with its body. Our routes are cut sooner, see `limits.requestMs`. */
  readonly requestTimeout: number;
  /** For the next request on a connection: longer than the usual 60 s of a proxy in front, which then closes first. */
  readonly keepAliveTimeout: number;
  /** Between two looks at the first two. */
  readonly connectionsCheckingInterval: number;
}

const TIMEOUTS: ServerTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

/**
 * Limits how long clients may hold connections. To be called before the server listens: the interval is read then. Node
 * would look every 30 s and cut headers after 60 s, and Fastify sets no `requestTimeout`.
 */
export function limitWaiting(server: Server, timeouts: ServerTimeouts = TIMEOUTS): void {
  Object.assign(server, timeouts);
}
