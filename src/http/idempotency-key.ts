import type { ExecutionContext } from '@nestjs/common';
import { MessagingError } from '../common/errors.js';
import { rawRequest } from './raw-request.js';

/** 1 to 255 visible ASCII characters. Node joins a repeated header with a comma and a space, which is none. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` header of the request, undefined when there is none (contract.md section 7). A malformed or
 * repeated one is a 400.
 * @throws MessagingError `error.idempotency_key_malformed`
 */
export function idempotencyKeyOf(context: ExecutionContext): string | undefined {
  const key = rawRequest(context).headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new MessagingError('error.idempotency_key_malformed');
}
