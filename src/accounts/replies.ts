import { type IdempotencyKey, onceId, type StoredReply } from '../common/idempotency-key.js';
import type { Dialect } from '../storage/dialect.js';
import { type Operation, rowsOf, write } from '../storage/engine/operation.js';
import { shapeOf, textOf } from '../storage/engine/rows.js';

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

/**
 * Unexpired replies under the Idempotency-Keys of sends, by `onceId`. With `gaps: 'lock'`, the newest committed rows
 * are read, which may lock gaps.
 */
export function* findReplies(
  dialect: Dialect,
  sends: readonly { readonly once?: IdempotencyKey | undefined; readonly at: number }[],
  gaps: 'lock' | 'leave',
): Operation<ReadonlyMap<string, StoredReply>> {
  const keyed = sends.filter((send): send is { once: IdempotencyKey; at: number } => send.once !== undefined);
  if (keyed.length === 0) return new Map();
  const source = dialect.rows({ account_id: 'text', route: 'text', idempotency_key: 'text', seen_at: 'integer' });
  const rows = yield* rowsOf(
    `SELECT i.account_id, i.route, i.idempotency_key, i.fingerprint, i.reply FROM ${source} ${dialect.thenJoin} messaging_idempotency i${dialect.by('primary key')}
      ON ${dialect.lookUp('i.account_id = v.account_id AND i.route = v.route AND i.idempotency_key = v.idempotency_key')} AND i.expires_at > v.seen_at${gaps === 'lock' ? dialect.current : ''}`,
    JSON.stringify(keyed.map(({ once, at }) => [once.accountId, once.route, once.key, at])),
  );
  return new Map(
    rows.map((row) => [
      onceId({
        accountId: textOf(row, 'account_id'),
        route: textOf(row, 'route'),
        key: textOf(row, 'idempotency_key'),
      }),
      { fingerprint: textOf(row, 'fingerprint'), reply: JSON.parse(textOf(row, 'reply')) },
    ]),
  );
}

/**
 * Stores a reply under an Idempotency-Key, unless one is stored already. Of two transactions with the same key, the
 * second waits for the first.
 * @returns undefined if the reply was stored, else the earlier one
 */
export function* keepReply(
  dialect: Dialect,
  once: IdempotencyKey,
  reply: object,
  now: number,
): Operation<StoredReply | undefined> {
  const { accountId, route, key, fingerprint, expiresAt } = once;
  const earlier = yield* findReply(once, now);
  if (earlier) return earlier;
  yield* write(
    'DELETE FROM messaging_idempotency WHERE account_id = ? AND route = ? AND idempotency_key = ? AND expires_at <= ?',
    accountId,
    route,
    key,
    now,
  );
  const rows = [[accountId, route, key, fingerprint, JSON.stringify(reply), expiresAt]];
  const written = yield* dialect.insertNew(dialect.insertRows({ ...REPLIES, rows }), REPLY_KEY);
  return written > 0 ? undefined : yield* findReply(once, now);
}

/** See `OutboxStore.forget`. */
export function forgetReply({ accountId, route, key, fingerprint }: IdempotencyKey): Operation<number> {
  return write(
    'DELETE FROM messaging_idempotency WHERE account_id = ? AND route = ? AND idempotency_key = ? AND fingerprint = ?',
    accountId,
    route,
    key,
    fingerprint,
  );
}

/** The table of replies, with its key. */
export const REPLY_KEY = 'account_id, route, idempotency_key';
export const REPLIES = {
  table: 'messaging_idempotency',
  shape: shapeOf('account_id route idempotency_key fingerprint reply', 'expires_at'),
};

/** Deletes expired replies of Idempotency-Keys, the oldest first. */
export function purgeReplies(dialect: Dialect, now: number, limit: number): Operation<number> {
  const sql = dialect.deleteFirst('messaging_idempotency', REPLY_KEY, 'expires_at');
  return write(sql, now, limit);
}
