import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { Page, PageRequest } from '../common/page.js';
import { signatureEvents } from '../events/account-events.js';
import { EventRecorder } from '../events/event-recorder.js';
import type { Dialect } from '../storage/dialect.js';
import type { Executor } from '../storage/engine/executor.js';
import { type Operation, type Row, rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, textOf } from '../storage/engine/rows.js';
import { bytesWith, type Listing, readPage, readRows } from '../storage/read-page.js';
import { AccountState } from './account.api.js';
import {
  Account,
  EarlierReply,
  KeptReply,
  Signature,
  SignatureDecision,
  SignatureStatus,
  StoredApiKey,
} from './account-records.js';
import { recordAudit } from './audit/audit.js';
import { type AuditFields, type Author, HOST } from './audit/audit-entry.js';
import { addKey, KEY, revokeKey, rotateKey, toKey, useKeys } from './keys/key-rows.js';
import { setLowBalance } from './low-balance.js';
import { SIGNATURE, SIGNATURE_BYTES, toSignature } from './signatures/signature-rows.js';

/** Persists accounts, API keys and signatures. Every method throws `StorageUnavailableError` when the database does not answer. */
export class AccountStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly executor: Executor) {
    this.recorder = executor.store(EventRecorder);
  }

  /** False when an account with this id exists. The balance starts at 0. With `host`, within its open transaction. */
  async createAccount({ id, name, createdAt }: Account, host?: HostTransaction): Promise<boolean> {
    const sql = 'INSERT INTO messaging_account (id, name, balance, created_at) VALUES (?, ?, 0, ?)';
    const insert = { sql, params: [id, name, createdAt] };
    return (await this.executor.write(() => this.executor.dialect.insertNew(insert, 'id'), host)) > 0;
  }

  /** With `host`, as seen by its open transaction. */
  async findAccount(id: string, host?: HostTransaction): Promise<Account | undefined> {
    const find = () => rowsOf('SELECT id, name, created_at FROM messaging_account WHERE id = ?', id);
    const [row] = await this.executor.read(find, host);
    return row && toAccount(row);
  }

  /** Undefined: there is no such account. */
  async accountState(id: string): Promise<AccountState | undefined> {
    const [row] = await this.rows('SELECT state FROM messaging_account WHERE id = ?', id);
    // Only our stores write the column, with values of this type.
    return row && (textOf(row, 'state') as AccountState);
  }

  /**
   * Newest first.
   * @throws MessagingError `error.invalid_cursor` when `after` is not an account
   */
  listAccounts(page: PageRequest): Promise<Page<Account>> {
    const listing: Listing<Account> = {
      table: 'messaging_account',
      columns: 'id, name, created_at',
      bytes: undefined,
      moment: 'created_at',
      filters: [],
      toItem: toAccount,
    };
    return this.executor.browse(() => readPage(this.executor.dialect, listing, page), undefined);
  }

  /**
   * Sets the number of units below which `LedgerStore.publishLow` publishes `balance.low`; undefined: never.
   * @returns false when the account does not exist
   */
  setLowBalance(id: string, threshold: number | undefined): Promise<boolean> {
    return this.executor.write(() => setLowBalance(id, threshold));
  }

  /**
   * False when a key with this id exists. With `host`, within its open transaction. Records `key.created`, and that in the audit
   * log.
   *
   * @param by who adds it. Default: the host
   * @param kept the reply to keep; one that is kept already is the result
   * @throws MessagingError `error.idempotency_mismatch`
   */
  addKey(
    key: StoredApiKey,
    host?: HostTransaction,
    by: Author = HOST,
    kept?: KeptReply,
  ): Promise<boolean | EarlierReply> {
    const { dialect } = this.executor;
    return this.recorder.write((publisher) => addKey(dialect, key, by, kept, publisher), host);
  }

  /**
   * Adds a key in place of a valid one of its account, which ends at `endsAt` unless an earlier end is set; in one transaction.
   * Records `key.rotated`, and that in the audit log.
   *
   * @param by as for `addKey`
   * @param kept as for `addKey`
   * @returns the reply that was kept already; else undefined
   * @throws MessagingError `error.key_not_found` when the old key is not valid at `key.createdAt`, `error.idempotency_mismatch`
   */
  rotateKey(
    id: string,
    key: StoredApiKey,
    endsAt: number,
    by: Author = HOST,
    kept?: KeptReply,
  ): Promise<EarlierReply | undefined> {
    const { dialect } = this.executor;
    return this.recorder.write((publisher) => rotateKey(dialect, id, key, endsAt, by, kept, publisher));
  }

  async findKey(id: string): Promise<StoredApiKey | undefined> {
    const [row] = await this.rows(`SELECT ${KEY} FROM messaging_api_key WHERE id = ?`, id);
    return row && toKey(row);
  }

  /**
   * The keys of an account, newest first.
   * @throws MessagingError `error.invalid_cursor` when `after` is not a key of the account
   */
  listKeys(accountId: string, page: PageRequest): Promise<Page<StoredApiKey>> {
    const listing: Listing<StoredApiKey> = {
      table: 'messaging_api_key',
      columns: KEY,
      bytes: bytesWith('name', 'scopes', 'cidrs'),
      moment: 'created_at',
      filters: [{ sql: 'account_id = ?', params: [accountId] }],
      toItem: toKey,
    };
    return this.executor.browse(() => readPage(this.executor.dialect, listing, page), accountId);
  }

  /**
   * Revokes a key for good, and records `key.revoked`, also in the audit log, unless it was revoked before.
   * @param by as for `addKey`
   * @returns the key as it was; undefined when it does not exist
   */
  revokeKey(id: string, at: number, by: Author = HOST): Promise<StoredApiKey | undefined> {
    return this.recorder.write((publisher) => revokeKey(id, at, by, publisher));
  }

  /** Writes the last uses of keys, `usedAt` by id, where they are later than those that are written. */
  async useKeys(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.executor.writeLazily(() => useKeys(this.executor.dialect, uses));
  }

  /**
   * Registers a name as pending, and says so in the audit log. A name that is registered already is returned unchanged.
   * @param by default: the host
   */
  registerSignature({ accountId, name, ...rest }: Signature, by: Author = HOST): Promise<Signature> {
    const { dialect } = this.executor;
    const sql = `INSERT INTO messaging_signature (account_id, name, status, reason, created_at, decided_at)
      VALUES (?, ?, ?, ?, ?, ?)`;
    const params = [accountId, name, rest.status, rest.reason ?? null, rest.createdAt, rest.decidedAt ?? null];
    return this.executor.write(function* (): Operation<Signature> {
      const added = yield* dialect.insertNew({ sql, params }, 'account_id, name');
      if (added > 0) {
        const change = { accountId, at: rest.createdAt, by, action: 'signature.registered', target: name } as const;
        yield* recordAudit({ ...change, after: { status: rest.status } });
      }
      return (yield* findSignature(accountId, name)) ?? { accountId, name, ...rest };
    });
  }

  /**
   * Verifies or rejects a name, records the event and adds an entry to the audit log. A decision that the name already has, with
   * the same reason, changes nothing: no event, no entry, and `decidedAt` stays.
   * @param by default: the host
   * @returns undefined when the name is not registered
   */
  decideSignature(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    at: number,
    by: Author = HOST,
  ): Promise<SignatureDecision | undefined> {
    const { dialect } = this.executor;
    return this.recorder.write(function* ({ publish }): Operation<SignatureDecision | undefined> {
      const before = yield* lockSignature(dialect, accountId, name);
      if (!before) return undefined;
      if (before.status === status && before.reason === reason) return { signature: before, isNew: false };
      yield* write(
        'UPDATE messaging_signature SET status = ?, reason = ?, decided_at = ? WHERE account_id = ? AND name = ?',
        status,
        reason ?? null,
        at,
        accountId,
        name,
      );
      const signature = { ...before, status, reason, decidedAt: at };
      const action = status === 'rejected' ? 'signature.rejected' : 'signature.verified';
      yield* recordAudit({
        accountId,
        at,
        by,
        action,
        target: name,
        before: stateOf(before),
        after: stateOf(signature),
      });
      for (const event of signatureEvents({ accountId, at }, signature)) publish(event);
      return { signature, isNew: true };
    });
  }

  /**
   * Removes a name that is pending, and says so in the audit log.
   * @param by default: the host
   * @returns the name as it was, also where it is not pending and stays; undefined when it is not registered
   */
  removeSignature(accountId: string, name: string, at: number, by: Author = HOST): Promise<Signature | undefined> {
    const { dialect } = this.executor;
    return this.executor.write(function* (): Operation<Signature | undefined> {
      const before = yield* lockSignature(dialect, accountId, name);
      if (before?.status !== 'pending') return before;
      yield* write('DELETE FROM messaging_signature WHERE account_id = ? AND name = ?', accountId, name);
      const action = 'signature.removed';
      yield* recordAudit({ accountId, at, by, action, target: name, before: stateOf(before) });
      return before;
    });
  }

  /**
   * The names of an account, in the order of their characters; `after` is a name.
   * @throws MessagingError `error.invalid_cursor` when `after` is not a name of the account
   */
  listSignatures(accountId: string, page: PageRequest): Promise<Page<Signature>> {
    return this.executor.browse(() => readSignatures(accountId, page), accountId);
  }

  /** All names of an account that are verified; with `host`, as seen by its open transaction. */
  async verifiedSignatures(accountId: string, host?: HostTransaction): Promise<readonly string[]> {
    const sql = "SELECT name FROM messaging_signature WHERE account_id = ? AND status = 'verified'";
    const rows = await this.executor.read(() => rowsOf(sql, accountId), host);
    return rows.map((row) => textOf(row, 'name'));
  }

  /** The accounts for which a name is verified. */
  async accountsWith(signature: string): Promise<readonly string[]> {
    const sql = "SELECT account_id FROM messaging_signature WHERE name = ? AND status = 'verified'";
    return (await this.rows(sql, signature)).map((row) => textOf(row, 'account_id'));
  }

  private rows(sql: string, ...params: readonly unknown[]): Promise<readonly Row[]> {
    return this.executor.read(() => rowsOf(sql, ...params));
  }
}

function* findSignature(accountId: string, name: string): Operation<Signature | undefined> {
  const sql = `SELECT ${SIGNATURE} FROM messaging_signature WHERE account_id = ? AND name = ?`;
  const [row] = yield* rowsOf(sql, accountId, name);
  return row && toSignature(row);
}

function* lockSignature(dialect: Dialect, accountId: string, name: string): Operation<Signature | undefined> {
  const columns = SIGNATURE.split(', ').map((column) => `s.${column}`);
  const sql = `SELECT ${columns.join(', ')} FROM messaging_signature s WHERE s.account_id = ? AND s.name = ?`;
  const [row] = yield* rowsOf(sql + dialect.lock('s', 'wait'), accountId, name);
  return row && toSignature(row);
}

/** What the audit log says about a name. */
function stateOf({ status, reason }: Signature): AuditFields {
  return { status, reason: reason ?? null };
}

/** Reads a page in the order of the primary key: names are unique within an account, so no further index is needed. */
function* readSignatures(accountId: string, { limit, after }: PageRequest): Operation<Page<Signature>> {
  if (after !== undefined && !(yield* findSignature(accountId, after)))
    throw new MessagingError('error.invalid_cursor');
  const read = (columns: string, most: number) =>
    rowsOf(
      `SELECT ${columns} FROM messaging_signature WHERE account_id = ? AND name > ? ORDER BY name LIMIT ?`,
      accountId,
      // No name is empty.
      after ?? '',
      most,
    );
  const { rows, isLast } = yield* readRows(read, SIGNATURE, SIGNATURE_BYTES, limit);
  const items = rows.map(toSignature);
  return { items, next: isLast ? undefined : items.at(-1)?.name };
}

function toAccount(row: Row): Account {
  return { id: textOf(row, 'id'), name: textOf(row, 'name'), createdAt: integerOf(row, 'created_at') };
}
