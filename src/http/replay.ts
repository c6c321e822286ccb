import type { Acceptance } from '../outbox/outbox.js';
import type { ReplyHeaders } from './reply-headers.decorator.js';

/** The answer to a send, marked when it was given before (contract.md section 7). */
export async function answerOf(acceptance: Promise<Acceptance>, headers: ReplyHeaders): Promise<object> {
  const { reply, replayed } = await acceptance;
  if (replayed) headers.set('Idempotency-Replayed', 'true');
  return reply;
}
