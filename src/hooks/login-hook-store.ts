import type { AuditAction } from '../accounts/audit/audit.api.js';
import { recordAudit } from '../accounts/audit/audit.js';
import { type AuditFields, type Author, HOST } from '../accounts/audit/audit-entry.js';
import { findReply, keepReply } from '../accounts/replies.js';
import { MessagingError } from '../common/errors.js';
import type { IdempotencyKey, StoredReply } from '../common/idempotency-key.js';
import type { Acceptance } from '../outbox/outbox.js';
import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, optionalInteger, optionalText, shapeOf, textOf } from '../storage/engine/rows.js';
import type { HookSecretVersion, LoginHook, LoginHookDefinition, LoginHookKey, NewLoginHook } from './login-hook.js';
import { MAX_LOGIN_HOOKS } from './login-hook.js';

/** The reply to a change, and the Idempotency-Key under which the transaction of the change keeps it. */
export interface LoginHookAnswer {
  readonly once: IdempotencyKey | undefined;
  /** Makes the reply that is kept. It must not contain a secret in clear text. */
  replyOf(hook: LoginHook): object;
}

/**
 * Persists log-in hooks. Every method is one transaction, and throws `StorageUnavailableError` if the database does not answer.
 * The transaction of a change also writes it to the audit log. `by` names who makes the change, by default the host.
 */
export class LoginHookStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores a hook. A repeat under the same Idempotency-Key gets the first reply.
   * @throws MessagingError `error.too_many_login_hooks` for more than `MAX_LOGIN_HOOKS`, which a lock on the account decides.
   * `error.account_not_found`, `error.idempotency_mismatch`
   */
  create(hook: NewLoginHook, answer: LoginHookAnswer, by: Author = HOST): Promise<Acceptance> {
    return this.database.write(() => createHook(this.database.dialect, hook, answer, by));
  }

  /** Finds a hook by its id alone, for a call of a log-in system. */
  find(id: string): Promise<LoginHook | undefined> {
    return this.database.read(() => findHook(id));
  }

  /** Lists the hooks of an account, newest first. */
  async list(accountId: string): Promise<readonly LoginHook[]> {
    const sql = `SELECT ${HOOK} FROM messaging_login_hook WHERE account_id = ? ORDER BY created_at DESC, id DESC`;
    const rows = await this.database.browse(() => rowsOf(sql, accountId), accountId);
    return rows.map(toHook);
  }

  /**
   * Replaces the versions of the secret by the result of `change`, under a lock. A repeat under the same Idempotency-Key gets the
   * first reply. Returns undefined if there is no such hook.
   * @throws MessagingError `error.idempotency_mismatch`
   */
  rotate(
    key: LoginHookKey,
    change: (versions: readonly HookSecretVersion[]) => readonly HookSecretVersion[],
    at: number,
    answer: LoginHookAnswer,
    by: Author = HOST,
  ): Promise<Acceptance | undefined> {
    return this.database.write(() => rotateSecret(this.database.dialect, key, change, at, answer, by));
  }

  /** Enables or disables a hook. Returns undefined if there is no such hook. */
  setStatus(
    key: LoginHookKey,
    status: LoginHook['status'],
    at: number,
    by: Author = HOST,
  ): Promise<LoginHook | undefined> {
    return this.database.write(() => setStatus(this.database.dialect, key, status, at, by));
  }

  /** Removes a hook with the records of its calls. Returns false if there is no such hook. */
  remove(key: LoginHookKey, at: number, by: Author = HOST): Promise<boolean> {
    return this.database.write(() => removeHook(this.database.dialect, key, at, by));
  }

  /** Writes to the audit log that somebody has sent a test. */
  recordTest({ accountId, id }: LoginHookKey, at: number, by: Author = HOST): Promise<void> {
    return this.database.write(() => recordAudit({ accountId, at, by, action: 'login_hook.tested', target: id }));
  }
}

const HOOK =
  'id, account_id, kind, name, signature, channel, max_segments, daily_units, mapping, proof, versions, status, created_at, updated_at';

/** Reads a hook from its row. The casts are safe, because only this package writes the columns. */
function toHook(row: Row): LoginHook {
  const mapping = optionalText(row, 'mapping');
  const proof = optionalText(row, 'proof');
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    kind: textOf(row, 'kind') as LoginHook['kind'],
    name: optionalText(row, 'name') ?? null,
    signature: textOf(row, 'signature'),
    channel: textOf(row, 'channel'),
    maxSegments: integerOf(row, 'max_segments'),
    dailyUnits: optionalInteger(row, 'daily_units') ?? null,
    mapping: mapping === undefined ? null : (JSON.parse(mapping) as LoginHook['mapping']),
    proof: proof === undefined ? null : (JSON.parse(proof) as LoginHook['proof']),
    versions: JSON.parse(textOf(row, 'versions')) as readonly HookSecretVersion[],
    status: textOf(row, 'status') as LoginHook['status'],
    createdAt: integerOf(row, 'created_at'),
    updatedAt: integerOf(row, 'updated_at'),
  };
}

const NEW = shapeOf(
  'id account_id kind name signature channel mapping proof versions status',
  'max_segments daily_units created_at updated_at',
);

function* createHook(dialect: Dialect, hook: NewLoginHook, answer: LoginHookAnswer, by: Author): Operation<Acceptance> {
  const { id, accountId, createdAt: at } = hook;
  // The lock on the account also decides on the number of hooks and on repeats.
  const lock = dialect.lockByIds('messaging_account', 'a.id', 'wait', 'no key update');
  const [account] = yield* rowsOf(lock, JSON.stringify([accountId]));
  if (!account) throw new MessagingError('error.account_not_found');
  const earlier = answer.once && (yield* findReply(answer.once, at));
  if (earlier && answer.once) return replayOf(earlier, answer.once);
  const [count] = yield* rowsOf('SELECT count(*) AS count FROM messaging_login_hook WHERE account_id = ?', accountId);
  if (count && integerOf(count, 'count') >= MAX_LOGIN_HOOKS) {
    throw new MessagingError('error.too_many_login_hooks', { max: MAX_LOGIN_HOOKS });
  }
  const { kind, name, signature, channel, mapping, proof, versions, maxSegments, dailyUnits } = hook;
  const json = (value: object | null) => value && JSON.stringify(value);
  const texts = [id, accountId, kind, name, signature, channel, json(mapping), json(proof), json(versions), 'enabled'];
  yield dialect.insertRows({
    table: 'messaging_login_hook',
    shape: NEW,
    rows: [[...texts, maxSegments, dailyUnits, at, at]],
  });
  yield* recordAudit({ accountId, at, by, action: 'login_hook.created', target: id, after: fieldsOf(hook) });
  return yield* answered(dialect, { ...hook, status: 'enabled', updatedAt: at }, answer, at);
}

/** Keeps the reply to a change. The caller must have looked for an earlier reply under a lock. */
function* answered(dialect: Dialect, hook: LoginHook, answer: LoginHookAnswer, now: number): Operation<Acceptance> {
  const reply = answer.replyOf(hook);
  if (answer.once) yield* keepReply(dialect, answer.once, reply, now);
  return { reply, replayed: false };
}

function replayOf({ fingerprint, reply }: StoredReply, once: IdempotencyKey): Acceptance {
  if (fingerprint !== once.fingerprint) throw new MessagingError('error.idempotency_mismatch');
  return { reply, replayed: true };
}

function* findHook(id: string): Operation<LoginHook | undefined> {
  const [row] = yield* rowsOf(`SELECT ${HOOK} FROM messaging_login_hook WHERE id = ?`, id);
  return row && toHook(row);
}

function* lockHook(dialect: Dialect, key: LoginHookKey): Operation<LoginHook | undefined> {
  const columns = HOOK.split(', ').map((column) => `a.${column}`);
  const sql = dialect.lockByIds('messaging_login_hook', columns.join(', '), 'wait', 'no key update');
  const [row] = yield* rowsOf(sql, JSON.stringify([key.id]));
  const hook = row && toHook(row);
  return hook?.accountId === key.accountId ? hook : undefined;
}

function* rotateSecret(
  dialect: Dialect,
  key: LoginHookKey,
  change: (versions: readonly HookSecretVersion[]) => readonly HookSecretVersion[],
  at: number,
  answer: LoginHookAnswer,
  by: Author,
): Operation<Acceptance | undefined> {
  const hook = yield* lockHook(dialect, key);
  if (!hook) return undefined;
  const earlier = answer.once && (yield* findReply(answer.once, at));
  if (earlier && answer.once) return replayOf(earlier, answer.once);
  const versions = change(hook.versions);
  yield* write(
    'UPDATE messaging_login_hook SET versions = ?, updated_at = ? WHERE id = ?',
    JSON.stringify(versions),
    at,
    key.id,
  );
  const newest = (of: readonly HookSecretVersion[]): AuditFields => ({ version: of[0]?.number ?? 0 });
  yield* record({ ...key, at, by }, 'login_hook.secret_rotated', newest(hook.versions), newest(versions));
  return yield* answered(dialect, { ...hook, versions, updatedAt: at }, answer, at);
}

function* setStatus(
  dialect: Dialect,
  key: LoginHookKey,
  status: LoginHook['status'],
  at: number,
  by: Author,
): Operation<LoginHook | undefined> {
  const hook = yield* lockHook(dialect, key);
  if (!hook || hook.status === status) return hook;
  yield* write('UPDATE messaging_login_hook SET status = ?, updated_at = ? WHERE id = ?', status, at, key.id);
  const action = status === 'enabled' ? 'login_hook.enabled' : 'login_hook.disabled';
  yield* record({ ...key, at, by }, action, { status: hook.status }, { status });
  return { ...hook, status, updatedAt: at };
}

function* removeHook(dialect: Dialect, key: LoginHookKey, at: number, by: Author): Operation<boolean> {
  const hook = yield* lockHook(dialect, key);
  if (!hook) return false;
  yield* write('DELETE FROM messaging_login_hook_call WHERE hook_id = ?', key.id);
  yield* write('DELETE FROM messaging_login_hook WHERE id = ?', key.id);
  const { accountId, id } = key;
  yield* recordAudit({ accountId, at, by, action: 'login_hook.removed', target: id, before: fieldsOf(hook) });
  return true;
}

function record(
  { id, accountId, at, by }: LoginHookKey & { readonly at: number; readonly by: Author },
  action: AuditAction,
  before: AuditFields,
  after: AuditFields,
): Operation<void> {
  return recordAudit({ accountId, at, by, action, target: id, before, after });
}

/** The definition as the audit log has it. */
function fieldsOf({ kind, name, signature, channel, maxSegments, dailyUnits }: LoginHookDefinition): AuditFields {
  return { kind, name, signature, channel, max_segments: maxSegments, daily_units: dailyUnits };
}
