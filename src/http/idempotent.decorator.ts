import { hash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { authorIn } from '../accounts/audit/author.decorator.js';
import { MessagingError } from '../common/errors.js';
import { requestIn } from '../common/http-context.js';
import type { IdempotentRequest } from '../outbox/idempotency.js';
import type { Acceptance } from '../outbox/outbox.js';
import { type ReplyHeaders, rawRequest } from './parameters.js';

/** The request's `Idempotency-Key` with its body as parsed; undefined without one (docs/http-api.md). */
export const Idempotent = createParamDecorator((_data: unknown, context: ExecutionContext) => onceIn(context));

/** The value that `@Idempotent()` gives to a handler. */
export function onceIn(context: ExecutionContext): IdempotentRequest | undefined {
  const given = idempotencyKeyOf(context);
  if (given === undefined) return undefined;
  const { kind, id = '' } = authorIn(context);
  // Keys of different operators never collide, even if `?account=` names the same account. A caller's key cannot begin like this,
  // because it has no blank. Operator and key are hashed, because together they would not fit where the key is stored.
  const key = kind === 'operator' ? `operator ${hash('sha256', JSON.stringify([id, given]), 'base64url')}` : given;
  return { key, body: requestIn<{ readonly body?: unknown }>(context).body };
}

/** 1 to 255 visible ASCII characters. Node joins repeated headers with a comma and a space; the space does not match. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` header of the request; undefined if there is none (docs/http-api.md).
 * @throws MessagingError `error.idempotency_key_malformed`, also for a repeated header
 */
function idempotencyKeyOf(context: ExecutionContext): string | undefined {
  const key = rawRequest(context).headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw new MessagingError('error.idempotency_key_malformed');
}

/** The answer to a send, with `Idempotency-Replayed` when it is a replay (docs/http-api.md). */
export async function answerOf(acceptance: Promise<Acceptance>, headers: ReplyHeaders): Promise<object> {
  const { reply, replayed } = await acceptance;
  if (replayed) headers.set('Idempotency-Replayed', 'true');
  return reply;
}
