import type { Movement } from './outbox-store.js';
import type { Send } from './send.js';

/** The recipients of an accepted send that are stored and not sent: they have reached their last state. */
export function* refusedAtOnce({ id: messageId, accountId, channel, recipients, at }: Send): Generator<Movement> {
  for (const [position, { number, refused: error }] of recipients.entries()) {
    if (error === undefined) continue;
    yield { messageId, position, accountId, channel, number, status: 'failed', error, refund: 0, at };
  }
}
