import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, textOf } from '../../storage/engine/rows.js';
import type { Payload } from '../payload.js';
import { removeContents } from './purge.js';
import { maskRecipients, REMOVABLE, removeRecords, toRemovable } from './removal.js';
import type { RemoveContent } from './removed-payload.js';
import type { ErasableDelivery, Walked } from './retention-records.js';

/** A recipient's key: the id of its message and its position. */
type Key = readonly [messageId: string, position: number];

const START: Key = ['', -1];

/** See `RetentionStore.deliveriesTo`. */
export function* findDeliveriesTo(
  dialect: Dialect,
  number: string,
  after: string,
  limit: number,
): Operation<Walked<ErasableDelivery>> {
  const start: Key = after === '' ? START : JSON.parse(after);
  const behind = 'r.message_id >= ? AND (r.message_id > ? OR r.position > ?)';
  const table = `messaging_recipient r${dialect.by('primary key')}`;
  const params = [start[0], start[0], start[1]];
  const [end] = yield* rowsOf(
    `SELECT r.message_id, r.position FROM ${table} WHERE ${behind} ORDER BY r.message_id, r.position LIMIT 1 OFFSET ?`,
    ...params,
    limit - 1,
  );
  const until = end && ([textOf(end, 'message_id'), integerOf(end, 'position')] satisfies Key);
  const rows = yield* rowsOf(
    `SELECT r.message_id, r.position, r.due_at, m.account_id, m.channel, m.payload, m.recipients
      FROM ${table} ${dialect.thenJoin} messaging_message m${dialect.by('primary key')} ON ${dialect.lookUp('m.id = r.message_id')}
      WHERE ${behind} ${until ? 'AND r.message_id <= ? AND (r.message_id < ? OR r.position <= ?)' : ''} AND r.number = ?`,
    ...params,
    ...(until ? [until[0], until[0], until[1]] : []),
    number,
  );
  return { found: rows.map(toErasable), next: until && JSON.stringify(until) };
}

function toErasable(row: Row): ErasableDelivery {
  const payload: Payload = JSON.parse(textOf(row, 'payload'));
  return {
    messageId: textOf(row, 'message_id'),
    position: integerOf(row, 'position'),
    accountId: textOf(row, 'account_id'),
    channel: textOf(row, 'channel'),
    payload,
    recipients: integerOf(row, 'recipients'),
    open: optionalInteger(row, 'due_at') !== undefined,
  };
}

/** See `RetentionStore.eraseDeliveries`. */
export function* eraseDeliveriesTo(
  dialect: Dialect,
  number: string,
  deliveries: readonly ErasableDelivery[],
  records: readonly string[],
  remove: RemoveContent,
): Operation<number> {
  const rows = yield* rowsOf(
    `SELECT ${REMOVABLE} FROM ${dialect.rowsInOrder({ message_id: 'id', position: 'integer' }, 'message_id, position')}
      ${dialect.thenJoin} messaging_recipient r${dialect.by('primary key')} ON ${dialect.lookUp('r.message_id = v.message_id AND r.position = v.position')}
      ${dialect.thenJoin} messaging_message m${dialect.by('primary key')} ON ${dialect.lookUp('m.id = r.message_id')}
      WHERE r.number = ? AND r.due_at IS NULL`,
    JSON.stringify(deliveries.map(({ messageId, position }) => [messageId, position])),
    number,
  );
  yield* maskRecipients(dialect, rows.map(toRemovable), '*'.repeat(number.length));
  const ids = [...new Set(rows.map((row) => textOf(row, 'message_id')))].sort();
  const bare = yield* withoutNumbers(dialect, ids);
  yield* removeContents(dialect, bare, remove);
  yield* removeRecords(dialect, records);
  return bare.length;
}

/** Finds the messages whose numbers are all erased. */
function* withoutNumbers(dialect: Dialect, ids: readonly string[]): Operation<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT v.id FROM ${dialect.rows({ id: 'id' })} WHERE NOT EXISTS (
      SELECT 1 FROM messaging_recipient r${dialect.by('primary key')}
        WHERE ${dialect.lookUp('r.message_id = v.id')} AND r.number NOT LIKE '*%')`,
    JSON.stringify(ids.map((id) => [id])),
  );
  return rows.map((row) => textOf(row, 'id'));
}

/** The key of a reply. */
type ReplyKey = readonly [accountId: string, route: string, key: string];

/** See `RetentionStore.eraseReplies`. */
export function* eraseRepliesTo(
  dialect: Dialect,
  number: string,
  after: string,
  limit: number,
): Operation<Walked<string>> {
  const start: ReplyKey = after === '' ? ['', '', ''] : JSON.parse(after);
  const [account, route, key] = start;
  const quoted = JSON.stringify(number);
  const rows = yield* rowsOf(
    `SELECT i.account_id, i.route, i.idempotency_key, CASE WHEN i.reply LIKE ? THEN 1 ELSE 0 END AS named
      FROM messaging_idempotency i${dialect.by('primary key')}
      WHERE i.account_id >= ? AND (i.account_id > ? OR i.route > ? OR (i.route = ? AND i.idempotency_key > ?))
      ORDER BY i.account_id, i.route, i.idempotency_key LIMIT ?`,
    `%${quoted}%`,
    account,
    account,
    route,
    route,
    key,
    limit,
  );
  const keys = rows.map(
    (row): ReplyKey => [textOf(row, 'account_id'), textOf(row, 'route'), textOf(row, 'idempotency_key')],
  );
  const named = keys.filter((_, index) => Number(rows[index]?.named) === 1);
  if (named.length > 0) {
    yield dialect.updateRows({
      table: 'messaging_idempotency',
      set: { reply: 'replace(messaging_idempotency.reply, ?, ?)' },
      params: [quoted, JSON.stringify('*'.repeat(number.length))],
      shape: { account_id: 'id', route: 'id', idempotency_key: 'text' },
      rows: named,
      on: ['account_id', 'route', 'idempotency_key']
        .map((column) => `messaging_idempotency.${column} = v.${column}`)
        .join(' AND '),
    });
  }
  return {
    found: named.map(([, , each]) => each),
    next: rows.length < limit ? undefined : JSON.stringify(keys.at(-1)),
  };
}

/** See `RetentionStore.accounts`. */
export function* listAccountIds(after: string, limit: number): Operation<Walked<string>> {
  const rows = yield* rowsOf('SELECT id FROM messaging_account WHERE id > ? ORDER BY id LIMIT ?', after, limit);
  const found = rows.map((row) => textOf(row, 'id'));
  return { found, next: found.length < limit ? undefined : found.at(-1) };
}
