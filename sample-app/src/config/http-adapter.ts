import type { Server } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';

/** Returns the adapter of the framework that serves HTTP. */
export function httpAdapter(name: 'express' | 'fastify') {
  if (name === 'express') return new ExpressAdapter();
  // Fastify's router refuses some requests before our routes see them. This handler gives those answers the shape of all our
  // errors (docs/http-api.md).
  return new FastifyAdapter({
    // On Fastify, NestJS 11 ignores its own option of this name.
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

/** How long a server waits for a client, in milliseconds. */
export interface ServerTimeouts {
  /** For the headers of a request, including the first request of a connection. */
  readonly headersTimeout: number;
  /** For a whole request with its body. Our routes end earlier, after `limits.requestMs`. */
  readonly requestTimeout: number;
  /** For the next request on a connection. It is longer than a proxy's usual 60 s, so that the proxy closes first. */
  readonly keepAliveTimeout: number;
  /** How often the server checks the first two. */
  readonly connectionsCheckingInterval: number;
}

const TIMEOUTS: ServerTimeouts = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
};

/**
 * Limits how long clients may hold connections. Call it before the server listens, because Node reads the interval then.
 * By default Node checks every 30 s and waits 60 s for headers, and Fastify sets no `requestTimeout`.
 */
export function limitWaiting(server: Server, timeouts: ServerTimeouts = TIMEOUTS): void {
  Object.assign(server, timeouts);
}
