import { MessagingError } from '../../common/errors.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import { maskNumber } from '../../common/phone-numbers/phone-number.js';
import type { TransactionPublisher } from '../../events/event-recorder.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';
import {
  type EarlierReply,
  type KeptReply,
  newKeyEventOf,
  revocationEvents,
  type StoredApiKey,
} from '../account-records.js';
import { recordAudit } from '../audit/audit.js';
import { type AuditFields, type Author } from '../audit/audit-entry.js';
import { keepReply } from '../replies.js';
import type { KeyScope } from './permissions.js';

/** The columns of a key. */
export const KEY =
  'id, account_id, hash, created_at, expires_at, revoked_at, name, scopes, cidrs, daily_units, per_minute, recipients, confirm_above, family, used_at';

/** See `AccountStore.addKey`. */
export function* addKey(
  dialect: Dialect,
  key: StoredApiKey,
  by: Author,
  kept: KeptReply | undefined,
  { publish }: TransactionPublisher,
): Operation<boolean | EarlierReply> {
  const earlier = yield* earlierReply(dialect, kept, key.createdAt);
  if (earlier) return earlier;
  if (!(yield* insertKey(dialect, key))) {
    // A key can exist already only if it was made elsewhere and imported. An import has no reply to store.
    if (kept) throw new Error('The id generator made the id of an existing key.');
    return false;
  }
  const { accountId, createdAt: at, id: target } = key;
  yield* recordAudit({ accountId, at, by, action: 'key.created', target, after: fieldsOf(key) });
  publish(newKeyEventOf(key));
  return true;
}

/**
 * See `AccountStore.rotateKey`. The row of the old key is locked first, so that a concurrent revocation happens either
 * before the rotation or after it.
 */
export function* rotateKey(
  dialect: Dialect,
  id: string,
  key: StoredApiKey,
  endsAt: number,
  by: Author,
  kept: KeptReply | undefined,
  { publish }: TransactionPublisher,
): Operation<EarlierReply | undefined> {
  const { accountId, createdAt: at } = key;
  const earlier = yield* earlierReply(dialect, kept, at);
  if (earlier) return earlier;
  const columns = KEY.split(', ').map((column) => `a.${column}`);
  const sql = dialect.lockByIds('messaging_api_key', columns.join(', '), 'wait', 'no key update');
  const [row] = yield* rowsOf(sql, JSON.stringify([id]));
  const old = row && toKey(row);
  if (old?.accountId !== accountId || !isValid(old, at)) throw new MessagingError('error.key_not_found');
  const end = Math.min(endsAt, old.expiresAt ?? endsAt);
  yield* write('UPDATE messaging_api_key SET expires_at = ? WHERE id = ?', end, id);
  if (!(yield* insertKey(dialect, key))) throw new Error('The id generator made the id of an existing key.');
  const [before, after] = [isoOf(old.expiresAt), isoOf(end)];
  yield* recordAudit({
    accountId,
    at,
    by,
    action: 'key.rotated',
    target: id,
    before: { expires_at: before },
    after: { expires_at: after, replaced_by: key.id },
  });
  publish(newKeyEventOf(key, id));
  return undefined;
}

/** See `AccountStore.revokeKey`. */
export function* revokeKey(
  id: string,
  at: number,
  by: Author,
  { publish }: TransactionPublisher,
): Operation<StoredApiKey | undefined> {
  const sql = 'UPDATE messaging_api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL';
  const isNew = (yield* write(sql, at, id)) > 0;
  const [row] = yield* rowsOf(`SELECT ${KEY} FROM messaging_api_key WHERE id = ?`, id);
  if (!row) return undefined;
  const key = isNew ? { ...toKey(row), revokedAt: undefined } : toKey(row);
  if (isNew) {
    const fields = { before: { revoked_at: null }, after: { revoked_at: isoOf(at) } };
    yield* recordAudit({ accountId: key.accountId, at, by, action: 'key.revoked', target: id, ...fields });
  }
  for (const event of revocationEvents(key, at)) publish(event);
  return key;
}

/** See `AccountStore.useKeys`. */
export function* useKeys(dialect: Dialect, uses: ReadonlyMap<string, number>): Operation<void> {
  yield dialect.updateRows({
    table: 'messaging_api_key',
    set: { used_at: 'v.last' },
    shape: shapeOf('key_id', 'last'),
    rows: [...uses],
    on: 'id = v.key_id AND (used_at IS NULL OR used_at < v.last)',
  });
}

function* insertKey(dialect: Dialect, key: StoredApiKey): Operation<boolean> {
  const texts = [key.id, key.accountId, key.hash, key.createdAt, key.expiresAt, key.revokedAt, key.name];
  const [scopes, cidrs, recipients] = [key.scopes, key.cidrs, key.recipients].map(
    (list) => list && JSON.stringify(list),
  );
  const limits = [key.dailyUnits, key.perMinute, recipients, key.confirmAbove];
  const params = [...texts, scopes, cidrs, ...limits, key.family, key.usedAt].map((each) => each ?? null);
  const sql = `INSERT INTO messaging_api_key (${KEY}) VALUES (${params.map(() => '?').join(', ')})`;
  return (yield* dialect.insertNew({ sql, params }, 'id')) > 0;
}

/** Stores the reply of the change that follows, unless an earlier reply is stored. */
function* earlierReply(dialect: Dialect, kept: KeptReply | undefined, at: number): Operation<EarlierReply | undefined> {
  const earlier = kept && (yield* keepReply(dialect, kept.once, kept.reply, at));
  if (earlier && earlier.fingerprint !== kept?.once.fingerprint) {
    throw new MessagingError('error.idempotency_mismatch');
  }
  return earlier && { reply: earlier.reply };
}

function isValid({ revokedAt, expiresAt }: StoredApiKey, at: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || at < expiresAt);
}

/** The definition of a key as the audit log shows it. */
function fieldsOf({ name, scopes, cidrs, expiresAt, dailyUnits, perMinute, ...limits }: StoredApiKey): AuditFields {
  return {
    name: name ?? null,
    scopes: scopes ?? null,
    cidrs: cidrs ?? null,
    expires_at: isoOf(expiresAt),
    daily_units: dailyUnits ?? null,
    per_minute: perMinute ?? null,
    // The log has no phone numbers in full.
    recipients: limits.recipients?.map(maskNumber) ?? null,
    confirm_above: limits.confirmAbove ?? null,
  };
}

export function toKey(row: Row): StoredApiKey {
  const scopes = optionalText(row, 'scopes');
  const cidrs = optionalText(row, 'cidrs');
  const recipients = optionalText(row, 'recipients');
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    hash: textOf(row, 'hash'),
    createdAt: integerOf(row, 'created_at'),
    expiresAt: optionalInteger(row, 'expires_at'),
    revokedAt: optionalInteger(row, 'revoked_at'),
    name: optionalText(row, 'name'),
    // Only `insertKey` writes these columns, from values of these types.
    scopes: scopes === undefined ? undefined : (JSON.parse(scopes) as KeyScope[]),
    cidrs: cidrs === undefined ? undefined : (JSON.parse(cidrs) as string[]),
    dailyUnits: optionalInteger(row, 'daily_units'),
    perMinute: optionalInteger(row, 'per_minute'),
    recipients: recipients === undefined ? undefined : (JSON.parse(recipients) as string[]),
    confirmAbove: optionalInteger(row, 'confirm_above'),
    family: optionalText(row, 'family'),
    usedAt: optionalInteger(row, 'used_at'),
  };
}
