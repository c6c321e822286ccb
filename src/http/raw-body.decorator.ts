import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

/** The body as it came, on a route with `rawBody`; empty when there is none. */
export const RawBody = createParamDecorator((_data: unknown, context: ExecutionContext): Uint8Array => {
  const { body } = context.switchToHttp().getRequest<{ readonly body?: unknown }>();
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
});
