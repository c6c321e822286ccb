import type { DataSource } from 'typeorm';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';

/** What {@link dueAfterUpgrade} answers. */
export const DUE_AFTER_UPGRADE = {
  next: 10,
  claimed: ['queued'],
  takenOver: ['sending'],
  expired: ['sent'],
  laned: ['laned'],
  left: [
    'done delivered',
    'laned sending',
    'late queued',
    'queued sending',
    'sending sending',
    'sent unknown',
    'waiting sent',
  ],
};

/** Stores deliveries in each state in a database of a version before, brings it up to date, and deals with what is due at 50. */
export async function dueAfterUpgrade(dataSource: DataSource) {
  const rows: [id: string, status: string, lane: string | null, dueAt: number | null][] = [
    ['queued', 'queued', null, 10],
    ['late', 'queued', null, 90],
    ['sending', 'sending', null, 20],
    ['sent', 'sent', null, 30],
    ['waiting', 'sent', null, 90],
    ['laned', 'queued', 'a', 40],
    ['done', 'delivered', null, null],
  ];
  const text = (value: string | number | null) => (typeof value === 'string' ? `'${value}'` : String(value));
  for (const [id, status, lane, dueAt] of rows) {
    await dataSource.query(`INSERT INTO messaging_message
      (id, account_id, channel, kind, lane, sender, payload, units, refunded_units, accepted_at)
      VALUES ('${id}', 'acc', 'sms', 'text', ${text(lane)}, 'A', '{}', 1, 0, 5)`);
    await dataSource.query(`INSERT INTO messaging_recipient
      (message_id, position, channel, lane, lane_turn, number, units, refunded_units, status, attempt, due_at, updated_at)
      VALUES ('${id}', 0, 'sms', ${text(lane)}, ${lane === null ? 'NULL' : 1}, '1', 1, 0, '${status}', 0, ${text(dueAt)}, 5)`);
  }
  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  const { outbox } = storage;
  const order = { channel: 'sms', limit: 9, now: 50, leaseUntil: 99, abandoned: false };
  const ids = (found: readonly { messageId: string }[]) => found.map(({ messageId }) => messageId);
  const dealt = {
    next: await outbox.nextDue('sms'),
    claimed: ids(await outbox.claim(order)),
    takenOver: ids(await outbox.claim({ ...order, abandoned: true })),
    expired: ids(await outbox.expire({ channel: 'sms', limit: 9, now: 50, statuses: ['sent', 'sending'] })),
    laned: ids(await outbox.claim({ ...order, lanes: ['a'] })),
  };
  const stored: { message_id: string; status: string }[] = await dataSource.query(
    'SELECT message_id, status FROM messaging_recipient',
  );
  await storage.stop();
  return { ...dealt, left: stored.map((row) => `${row.message_id} ${row.status}`).sort() };
}
