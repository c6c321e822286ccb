import type { IncomingMessage } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';

/** A request as a handler gets it: Express extends Node's, Fastify wraps it. */
type PlatformRequest = IncomingMessage & { readonly raw?: IncomingMessage };

/** Node's request below the platform's. */
export function rawRequest(context: ExecutionContext): IncomingMessage {
  const request = context.switchToHttp().getRequest<PlatformRequest>();
  return request.raw ?? request;
}
