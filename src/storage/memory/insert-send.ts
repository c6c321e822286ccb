import { onceId } from '../../outbox/decide.js';
import { costOf, type Send } from '../../outbox/send.js';
import type { MemoryMessage, MemoryTables } from './memory-tables.js';

/** Writes an accepted send: message, recipients, charge and, under a key, its reply. */
export function insertSend(tables: MemoryTables, send: Send): void {
  const { id, accountId, channel, lane, sender, at, once } = send;
  const units = costOf(send);
  const message: MemoryMessage = {
    id,
    accountId,
    channel,
    lane,
    sender,
    payload: JSON.parse(JSON.stringify(send.payload)),
    units,
    refundedUnits: 0,
    acceptedAt: at,
    deliveries: [],
  };
  tables.messages.set(id, message);
  for (const [position, recipient] of send.recipients.entries()) {
    const { number, units: own, refused } = recipient;
    const state = { status: refused === undefined ? ('queued' as const) : ('failed' as const), error: refused };
    const row = {
      ...{ message, position, number, units: own, refundedUnits: 0, ...state },
      ...{ attempt: 0, dueAt: refused === undefined ? at : null, updatedAt: at },
      ...{ doubtful: false, reference: undefined, trail: [] },
    };
    message.deliveries.push(row);
    if (refused === undefined) tables.waiting.add(row);
  }
  tables.book({
    ...{ id, accountId, kind: 'charge', units: 0 - units, at },
    ...{ messageId: id, position: undefined, note: undefined },
  });
  if (once) {
    const { fingerprint, expiresAt } = once;
    tables.replies.set(onceId(once), { fingerprint, expiresAt, reply: JSON.stringify(send.reply) });
  }
}
