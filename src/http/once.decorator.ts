import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { OnceRequest } from '../outbox/once-gate.js';
import { idempotencyKeyOf } from './idempotency-key.js';

/** The request's `Idempotency-Key` with its body as parsed; undefined without one (contract.md section 7). */
export const Once = createParamDecorator((_data: unknown, context: ExecutionContext): OnceRequest | undefined => {
  const key = idempotencyKeyOf(context);
  if (key === undefined) return undefined;
  return { key, body: context.switchToHttp().getRequest<{ readonly body?: unknown }>().body };
});
