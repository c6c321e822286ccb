import { MessagingError } from '../common/errors.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { Page, PageRequest } from '../common/listing/page.js';
import { signatureEvents } from '../events/account-events.js';
import { EventRecorder } from '../events/event-recorder.js';
import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write } from '../storage/engine/operation.js';
import { integerOf, textOf } from '../storage/engine/rows.js';
import { bytesWith, type Listing, readPage, readRows } from '../storage/read-page.js';
import { AccountState, SignatureStatus } from './account.api.js';
import { Account, EarlierReply, KeptReply, Signature, SignatureDecision, StoredApiKey } from './account-records.js';
import { recordAudit } from './audit/audit.js';
import { type AuditFields, type Author, HOST } from './audit/audit-entry.js';
import { addKey, KEY, revokeKey, rotateKey, toKey, useKeys } from './keys/key-rows.js';
import { setLowBalance } from './low-balance.js';
import { SIGNATURE, SIGNATURE_BYTES, toSignature } from './signatures/signature-rows.js';

/** Persists accounts, API keys and signatures. Every method throws `StorageUnavailableError` when the database does not answer. */
export class AccountStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Creates an account with a balance of 0. With `host`, the row is written in the host's open transaction.
   * @returns false if an account with this id exists
   */
  async createAccount({ id, name, createdAt }: Account, host?: HostTransaction): Promise<boolean> {
    const sql = 'INSERT INTO messaging_account (id, name, balance, created_at) VALUES (?, ?, 0, ?)';
    const insert = { sql, params: [id, name, createdAt] };
    return (await this.database.write(() => this.database.dialect.insertNew(insert, 'id'), host)) > 0;
  }

  /** The account with this id. With `host`, it is read in the host's open transaction. */
  async findAccount(id: string, host?: HostTransaction): Promise<Account | undefined> {
    const find = () => rowsOf('SELECT id, name, created_at FROM messaging_account WHERE id = ?', id);
    const [row] = await this.database.read(find, host);
    return row && toAccount(row);
  }

  /** The state of an account; undefined if the account does not exist. */
  async accountState(id: string): Promise<AccountState | undefined> {
    const [row] = await this.rows('SELECT state FROM messaging_account WHERE id = ?', id);
    // Only our stores write the column, with values of this type.
    return row && (textOf(row, 'state') as AccountState);
  }

  /**
   * Lists accounts, newest first.
   * @throws MessagingError `error.invalid_cursor` if `after` is not an account
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
    return this.database.browse(() => readPage(this.database.dialect, listing, page), undefined);
  }

  /**
   * Sets the number of units below which a balance causes the event `balance.low`; undefined: no event.
   * @returns false if the account does not exist
   */
  setLowBalance(id: string, threshold: number | undefined): Promise<boolean> {
    return this.database.write(() => setLowBalance(id, threshold));
  }

  /**
   * Adds a key. With `host`, it is written in the host's open transaction. Also records the event `key.created` and an
   * entry of the audit log.
   *
   * @param by who adds it. Default: the host
   * @param kept the reply to store under its Idempotency-Key
   * @returns false if a key with this id exists. If a reply is already stored under the Idempotency-Key, it returns
   * that reply and adds nothing
   * @throws MessagingError `error.idempotency_mismatch`
   */
  addKey(
    key: StoredApiKey,
    host?: HostTransaction,
    by: Author = HOST,
    kept?: KeptReply,
  ): Promise<boolean | EarlierReply> {
    const { dialect } = this.database;
    return this.recorder.write((publisher) => addKey(dialect, key, by, kept, publisher), host);
  }

  /**
   * Adds a key that replaces a valid one of the same account, in one transaction. The old key ends at `endsAt`, unless
   * it ends earlier anyway. Also records the event `key.rotated` and an entry of the audit log.
   *
   * @param by as for `addKey`
   * @param kept as for `addKey`
   * @returns the reply that was already stored under the Idempotency-Key; else undefined
   * @throws MessagingError `error.key_not_found` if the old key is not valid at `key.createdAt`,
   * `error.idempotency_mismatch`
   */
  rotateKey(
    id: string,
    key: StoredApiKey,
    endsAt: number,
    by: Author = HOST,
    kept?: KeptReply,
  ): Promise<EarlierReply | undefined> {
    const { dialect } = this.database;
    return this.recorder.write((publisher) => rotateKey(dialect, id, key, endsAt, by, kept, publisher));
  }

  async findKey(id: string): Promise<StoredApiKey | undefined> {
    const [row] = await this.rows(`SELECT ${KEY} FROM messaging_api_key WHERE id = ?`, id);
    return row && toKey(row);
  }

  /**
   * The keys of an account, newest first.
   * @throws MessagingError `error.invalid_cursor` if `after` is not a key of the account
   */
  listKeys(accountId: string, page: PageRequest): Promise<Page<StoredApiKey>> {
    const listing: Listing<StoredApiKey> = {
      table: 'messaging_api_key',
      columns: KEY,
      bytes: bytesWith('name', 'scopes', 'cidrs', 'recipients'),
      moment: 'created_at',
      filters: [{ sql: 'account_id = ?', params: [accountId] }],
      toItem: toKey,
    };
    return this.database.browse(() => readPage(this.database.dialect, listing, page), accountId);
  }

  /**
   * Revokes a key for good. Unless it was revoked before, also records the event `key.revoked` and an entry of the
   * audit log.
   * @param by as for `addKey`
   * @returns the key as it was before; undefined if it does not exist
   */
  revokeKey(id: string, at: number, by: Author = HOST): Promise<StoredApiKey | undefined> {
    return this.recorder.write((publisher) => revokeKey(id, at, by, publisher));
  }

  /**
   * Writes the last uses of keys. A stored use that is later stays.
   * @param uses the time of the last use by the id of the key
   */
  async useKeys(uses: ReadonlyMap<string, number>): Promise<void> {
    await this.database.writeLazily(() => useKeys(this.database.dialect, uses));
  }

  /**
   * Registers a name as pending and adds an entry to the audit log. A name that is already registered is returned
   * unchanged.
   * @param by default: the host
   */
  registerSignature({ accountId, name, ...rest }: Signature, by: Author = HOST): Promise<Signature> {
    const { dialect } = this.database;
    const sql = `INSERT INTO messaging_signature (account_id, name, status, reason, created_at, decided_at)
      VALUES (?, ?, ?, ?, ?, ?)`;
    const params = [accountId, name, rest.status, rest.reason ?? null, rest.createdAt, rest.decidedAt ?? null];
    return this.database.write(function* (): Operation<Signature> {
      const added = yield* dialect.insertNew({ sql, params }, 'account_id, name');
      if (added > 0) {
        const change = { accountId, at: rest.createdAt, by, action: 'signature.registered', target: name } as const;
        yield* recordAudit({ ...change, after: { status: rest.status } });
      }
      return (yield* findSignature(accountId, name)) ?? { accountId, name, ...rest };
    });
  }

  /**
   * Verifies or rejects a name, records the event and adds an entry to the audit log. If the name already has this
   * status with the same reason, nothing changes: there is no event and no entry, and `decidedAt` stays.
   * @param by default: the host
   * @returns undefined if the name is not registered
   */
  decideSignature(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    at: number,
    by: Author = HOST,
  ): Promise<SignatureDecision | undefined> {
    const { dialect } = this.database;
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
   * Removes a pending name and adds an entry to the audit log.
   * @param by default: the host
   * @returns the name as it was before; undefined if it is not registered. A name that is not pending is also returned,
   * but it is not removed
   */
  removeSignature(accountId: string, name: string, at: number, by: Author = HOST): Promise<Signature | undefined> {
    const { dialect } = this.database;
    return this.database.write(function* (): Operation<Signature | undefined> {
      const before = yield* lockSignature(dialect, accountId, name);
      if (before?.status !== 'pending') return before;
      yield* write('DELETE FROM messaging_signature WHERE account_id = ? AND name = ?', accountId, name);
      const action = 'signature.removed';
      yield* recordAudit({ accountId, at, by, action, target: name, before: stateOf(before) });
      return before;
    });
  }

  /**
   * Lists the names of an account in the order of their characters; `after` is a name.
   * @throws MessagingError `error.invalid_cursor` if `after` is not a name of the account
   */
  listSignatures(accountId: string, page: PageRequest): Promise<Page<Signature>> {
    return this.database.browse(() => readSignatures(accountId, page), accountId);
  }

  /** All verified names of an account. With `host`, they are read in the host's open transaction. */
  async verifiedSignatures(accountId: string, host?: HostTransaction): Promise<readonly string[]> {
    const sql = "SELECT name FROM messaging_signature WHERE account_id = ? AND status = 'verified'";
    const rows = await this.database.read(() => rowsOf(sql, accountId), host);
    return rows.map((row) => textOf(row, 'name'));
  }

  /** The accounts for which a name is verified. */
  async accountsWith(signature: string): Promise<readonly string[]> {
    const sql = "SELECT account_id FROM messaging_signature WHERE name = ? AND status = 'verified'";
    return (await this.rows(sql, signature)).map((row) => textOf(row, 'account_id'));
  }

  private rows(sql: string, ...params: readonly unknown[]): Promise<readonly Row[]> {
    return this.database.read(() => rowsOf(sql, ...params));
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

/** The fields of a name that the audit log shows. */
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
