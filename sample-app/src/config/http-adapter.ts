import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';

/** What serves HTTP. */
export function httpAdapter(name: 'express' | 'fastify') {
  if (name === 'express') return new ExpressAdapter();
  // What Fastify's router refuses before any route is ours to see: in the shape of all our errors, as the README says.
  return new FastifyAdapter({
    routerOptions: { maxParamLength: 1000 },
    frameworkErrors: (_error: unknown, _request: unknown, reply: FastifyReply) => {
      void reply.code(400).send({ statusCode: 400, message: 'Requête invalide', error: 'Bad Request' });
    },
  });
}
