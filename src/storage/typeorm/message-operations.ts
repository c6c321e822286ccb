import type { Page } from '../../common/page.js';
import type { StoredReply } from '../../outbox/decide.js';
import type { DeliveryStatus } from '../../outbox/delivery-status.js';
import type { MessageQuery, StoredMessage, StoredRecipient } from '../../outbox/outbox-store.js';
import type { OnceKey } from '../../outbox/send.js';
import type { Dialect } from './dialect.js';
import { type Operation, type Row, rowsOf, write } from './operation.js';
import { readPage } from './read-page.js';
import { integerOf, optionalInteger, optionalText, textOf } from './values.js';

/** The live reply under an Idempotency-Key. */
export function* findReply(
  { accountId, route, key }: Pick<OnceKey, 'accountId' | 'route' | 'key'>,
  now: number,
): Operation<StoredReply | undefined> {
  const [row] = yield* rowsOf(
    'SELECT fingerprint, reply FROM messaging_idempotency WHERE account_id = ? AND route = ? AND once_key = ? AND expires_at > ?',
    ...[accountId, route, key, now],
  );
  return row && { fingerprint: textOf(row, 'fingerprint'), reply: JSON.parse(textOf(row, 'reply')) };
}

/** Forgets expired replies, the oldest first. */
export function purgeExpired(dialect: Dialect, now: number, limit: number): Operation<number> {
  const sql = dialect.deleteFirst('messaging_idempotency', 'account_id, route, once_key', 'expires_at');
  return write(sql, now, limit);
}

/** The earliest time at which a channel has something to do. */
export function* nextDueTime(dialect: Dialect, channel: string): Operation<number | undefined> {
  const first = (status: string) =>
    `(SELECT due_at FROM messaging_recipient${dialect.by('messaging_recipient_due')}
      WHERE channel = ? AND status = '${status}' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1) AS ${status}`;
  const [row] = yield* rowsOf(`SELECT ${WAITING.map(first).join(', ')}`, ...WAITING.map(() => channel));
  const times = row ? WAITING.flatMap((status) => optionalInteger(row, status) ?? []) : [];
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** The states in which a delivery has a time at which it is looked at again. */
const WAITING = ['queued', 'sending', 'sent'] as const;

const MESSAGE = 'id, account_id, channel, lane, sender, payload, units, refunded_units, accepted_at';

/** One message of an account. */
export function* findMessage(accountId: string, channel: string, id: string): Operation<StoredMessage | undefined> {
  const [row] = yield* rowsOf(
    `SELECT ${MESSAGE} FROM messaging_message WHERE id = ? AND account_id = ? AND channel = ?`,
    ...[id, accountId, channel],
  );
  return row && toMessage(row);
}

/** See `OutboxStore.list`. */
export function* listMessages(
  dialect: Dialect,
  { accountId, channel, kind, ...page }: MessageQuery,
): Operation<Page<StoredMessage>> {
  const filters = [{ sql: 'account_id = ? AND channel = ? AND kind = ?', params: [accountId, channel, kind] }];
  return yield* readPage(
    dialect,
    { table: 'messaging_message', columns: MESSAGE, moment: 'accepted_at', filters, toItem: toMessage },
    page,
  );
}

/** A message's recipients in their order. */
export function* listRecipients(messageId: string): Operation<readonly StoredRecipient[]> {
  const rows = yield* rowsOf(
    `SELECT number, status, units, refunded_units, error, updated_at FROM messaging_recipient
      WHERE message_id = ? ORDER BY position`,
    messageId,
  );
  return rows.map((row) => ({
    number: textOf(row, 'number'),
    // Written by this module only, from that very type.
    status: textOf(row, 'status') as DeliveryStatus,
    units: integerOf(row, 'units'),
    refundedUnits: integerOf(row, 'refunded_units'),
    error: optionalText(row, 'error'),
    updatedAt: integerOf(row, 'updated_at'),
  }));
}

/** The numbers of several messages, each in the order of its send. */
export function* listNumbers(
  dialect: Dialect,
  messageIds: readonly string[],
): Operation<ReadonlyMap<string, readonly string[]>> {
  const numbers = new Map<string, string[]>(messageIds.map((id) => [id, []]));
  if (messageIds.length === 0) return numbers;
  const rows = yield* rowsOf(
    `SELECT message_id, number FROM messaging_recipient WHERE message_id IN ${dialect.strings()} ORDER BY message_id, position`,
    JSON.stringify(messageIds),
  );
  for (const row of rows) numbers.get(textOf(row, 'message_id'))?.push(textOf(row, 'number'));
  return numbers;
}

function toMessage(row: Row): StoredMessage {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    lane: optionalText(row, 'lane'),
    sender: textOf(row, 'sender'),
    payload: JSON.parse(textOf(row, 'payload')),
    units: integerOf(row, 'units'),
    refundedUnits: integerOf(row, 'refunded_units'),
    acceptedAt: integerOf(row, 'accepted_at'),
  };
}
