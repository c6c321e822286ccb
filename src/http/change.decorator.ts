import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Author } from '../accounts/audit/audit-entry.js';
import { authorIn } from '../accounts/audit/author.decorator.js';
import type { IdempotentRequest } from '../outbox/idempotency.js';
import type { Acceptance } from '../outbox/outbox.js';
import { answerOf, onceIn } from './idempotent.decorator.js';
import { replyOf } from './parameters.js';

/** Who asks for a change, and the request's Idempotency-Key. Services take both. */
export interface ChangeCall {
  readonly by: Author;
  readonly once: IdempotentRequest | undefined;
}

/** A request for a change. The change is made once per Idempotency-Key, and is written to the audit log. */
export interface Change {
  /** Makes the change, and answers the request with its reply. */
  answer(make: (call: ChangeCall) => Promise<Acceptance>): Promise<object>;
}

/** The request of a route that changes something (docs/http-api.md). */
export const Change = createParamDecorator((_data: unknown, context: ExecutionContext): Change => {
  const call = { by: authorIn(context), once: onceIn(context) };
  return { answer: (make) => answerOf(make(call), replyOf(context)) };
});
