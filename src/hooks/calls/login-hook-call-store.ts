import { sqlListOf, WAITING_STATUSES } from '../../events/delivery-status.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../../storage/engine/rows.js';
import { KEPT_CALLS } from '../login-hook.api.js';
import type { LoginHookCall } from '../login-hook.js';
import { HANDED_OVER, PENDING_CODE, PENDING_END } from './login-code.js';

/** Persists the last calls of hooks, and removes codes after their hand-over. */
export class LoginHookCallStore {
  constructor(private readonly database: Database) {}

  /** Adds a call, and removes the oldest ones of its hook. Nothing is added if the hook was removed meanwhile. */
  record(call: LoginHookCall): Promise<void> {
    return this.database.writeLazily(() => recordCall(this.database.dialect, call));
  }

  /** Lists the last calls of a hook, newest first. */
  async list(accountId: string, hookId: string): Promise<readonly LoginHookCall[]> {
    const sql = `SELECT ${CALL} FROM messaging_login_hook_call WHERE hook_id = ? ORDER BY id DESC LIMIT ?`;
    const rows = await this.database.browse(() => rowsOf(sql, hookId, KEPT_CALLS), accountId);
    return rows.map(toCall);
  }

  /**
   * Removes the encrypted texts of the next `limit` codes that need no further attempt: they were handed over, have failed, or
   * were cancelled.
   * @param after the `next` of the previous step; '' for the first
   * @returns undefined as `next` after the last code
   */
  async eraseHandedOver(after: string, limit: number): Promise<{ readonly next: string | undefined }> {
    const { dialect } = this.database;
    // Most rounds find no code at all, so the first look takes no write lock.
    const keys = await this.database.read(() => pendingKeys(after, limit));
    if (keys.length > 0) await this.database.writeLazily(() => eraseThose(dialect, keys));
    return { next: keys.length < limit ? undefined : keys.at(-1) };
  }
}

const CALL = 'id, hook_id, at, outcome, number, message_id, is_test';

function toCall(row: Row): LoginHookCall {
  return {
    id: textOf(row, 'id'),
    hookId: textOf(row, 'hook_id'),
    at: integerOf(row, 'at'),
    outcome: textOf(row, 'outcome') as LoginHookCall['outcome'], // Only `recordCall` writes it.
    number: optionalText(row, 'number'),
    messageId: optionalText(row, 'message_id'),
    test: integerOf(row, 'is_test') === 1,
  };
}

const NEW = shapeOf('hook_id id outcome number message_id', 'at is_test');

function* recordCall(
  dialect: Dialect,
  { id, hookId, at, outcome, number, messageId, test }: LoginHookCall,
): Operation<void> {
  // Calls of one hook are recorded one after the other, so that two of them do not remove the same rows.
  const lock = dialect.lockByIds('messaging_login_hook', 'a.id', 'wait', 'no key update');
  const [hook] = yield* rowsOf(lock, JSON.stringify([hookId]));
  if (!hook) return;
  const row = [hookId, id, outcome, number ?? null, messageId ?? null, at, test ? 1 : 0];
  yield dialect.insertRows({ table: 'messaging_login_hook_call', shape: NEW, rows: [row] });
  yield* write(
    `DELETE FROM messaging_login_hook_call WHERE hook_id = ? AND id <= (SELECT max(id) FROM (
      SELECT c.id FROM messaging_login_hook_call c WHERE c.hook_id = ? ORDER BY c.id DESC LIMIT 1 OFFSET ${KEPT_CALLS}) old)`,
    hookId,
    hookId,
  );
}

function* pendingKeys(after: string, limit: number): Operation<readonly string[]> {
  const rows = yield* rowsOf(
    'SELECT p.id FROM messaging_policy p WHERE p.id > ? AND p.id < ? ORDER BY p.id LIMIT ?',
    after === '' ? PENDING_CODE : after,
    PENDING_END,
    limit,
  );
  return rows.map((row) => textOf(row, 'id'));
}

function* eraseThose(dialect: Dialect, keys: readonly string[]): Operation<void> {
  const ids = keys.map((key) => key.slice(PENDING_CODE.length));
  const waiting = yield* rowsOf(
    `SELECT r.message_id FROM messaging_recipient r WHERE r.message_id ${dialect.among()} AND r.status IN (${sqlListOf(WAITING_STATUSES)})`,
    JSON.stringify(ids),
  );
  const kept = new Set(waiting.map((row) => textOf(row, 'message_id')));
  const done = ids.filter((id) => !kept.has(id));
  if (done.length === 0) return;
  yield* write(
    `UPDATE messaging_message SET payload = ? WHERE id ${dialect.among()}`,
    JSON.stringify(HANDED_OVER),
    JSON.stringify(done),
  );
  const records = done.map((id) => PENDING_CODE + id);
  yield* write(`DELETE FROM messaging_policy WHERE id ${dialect.among()}`, JSON.stringify(records));
}
