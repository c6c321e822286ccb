import type { StoredReply } from '../../../../outbox/decide.js';
import type { IdempotencyKey } from '../../../../outbox/send.js';
import type { Dialect } from '../../dialects/dialect.js';
import { type Operation, rowsOf, write } from '../../engine/operation.js';
import { textOf } from '../../engine/rows.js';

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

/** Deletes expired replies of Idempotency-Keys, the oldest first. */
export function purgeReplies(dialect: Dialect, now: number, limit: number): Operation<number> {
  const sql = dialect.deleteFirst('messaging_idempotency', 'account_id, route, idempotency_key', 'expires_at');
  return write(sql, now, limit);
}
