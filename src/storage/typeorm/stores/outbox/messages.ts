import type { Page, PageRequest } from '../../../../common/page.js';
import type { StoredReply } from '../../../../outbox/decide.js';
import type { StoredMessage } from '../../../../outbox/outbox-store.js';
import type { IdempotencyKey } from '../../../../outbox/send.js';
import type { Dialect } from '../../dialects/dialect.js';
import { type Operation, type Row, rowsOf, type Statement, write } from '../../engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../../engine/rows.js';
import { readPage } from '../read-page.js';

/** The unexpired reply under an Idempotency-Key. */
export function* findReply(
  { accountId, route, key }: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>,
  now: number,
): Operation<StoredReply | undefined> {
  const [row] = yield* rowsOf(
    'SELECT fingerprint, reply FROM messaging_idempotency WHERE account_id = ? AND route = ? AND idempotency_key = ? AND expires_at > ?',
    accountId,
    route,
    key,
    now,
  );
  return row && { fingerprint: textOf(row, 'fingerprint'), reply: JSON.parse(textOf(row, 'reply')) };
}

/** Deletes expired replies, the oldest first. */
export function purgeExpired(dialect: Dialect, now: number, limit: number): Operation<number> {
  const sql = dialect.deleteFirst('messaging_idempotency', 'account_id, route, idempotency_key', 'expires_at');
  return write(sql, now, limit);
}

/** The earliest time at which a delivery of a channel is due. */
export function* nextDueTime(dialect: Dialect, channel: string): Operation<number | undefined> {
  const first = (status: string) =>
    `(SELECT due_at FROM messaging_recipient${dialect.by('messaging_recipient_due')}
      WHERE channel = ? AND status = '${status}' AND due_at IS NOT NULL ORDER BY due_at LIMIT 1) AS ${status}`;
  const [row] = yield* rowsOf(`SELECT ${WAITING.map(first).join(', ')}`, ...WAITING.map(() => channel));
  const times = row ? WAITING.flatMap((status) => optionalInteger(row, status) ?? []) : [];
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** The states in which a delivery has a `due_at`. */
const WAITING = ['queued', 'sending', 'sent'] as const;

const MESSAGE = 'id, account_id, channel, lane, sender, payload, units, refunded_units, recipients, accepted_at';

/** One message of an account. */
export function* findMessage(accountId: string, channel: string, id: string): Operation<StoredMessage | undefined> {
  const [row] = yield* rowsOf(
    `SELECT ${MESSAGE} FROM messaging_message WHERE id = ? AND account_id = ? AND channel = ?`,
    id,
    accountId,
    channel,
  );
  return row && toMessage(row);
}

/** Messages by their ids, in the order of the ids. */
export function* findMessages(dialect: Dialect, ids: readonly string[]): Operation<readonly StoredMessage[]> {
  if (ids.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT ${MESSAGE} FROM messaging_message WHERE id IN ${dialect.strings()}`,
    JSON.stringify(ids),
  );
  const messages = new Map(rows.map((row) => [textOf(row, 'id'), toMessage(row)]));
  return ids.flatMap((id) => messages.get(id) ?? []);
}

/** A page of messages; `shown` are further conditions, which the row that `page.after` names need not meet. */
export function listAll(
  dialect: Dialect,
  filters: readonly Statement[],
  shown: readonly Statement[],
  page: PageRequest,
): Operation<Page<StoredMessage>> {
  const listing = { table: 'messaging_message', columns: MESSAGE, moment: 'accepted_at', toItem: toMessage };
  return readPage(dialect, { ...listing, filters, shown }, page);
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
    recipients: integerOf(row, 'recipients'),
    acceptedAt: integerOf(row, 'accepted_at'),
  };
}
