import {
  type Account,
  AccountStore,
  newKeyEventOf,
  revocationEvents,
  type Signature,
  type SignatureStatus,
  type StoredApiKey,
} from '../../../accounts/account-store.js';
import { MessagingError } from '../../../common/errors.js';
import type { HostTransaction } from '../../../common/host-transaction.js';
import type { Page, PageRequest } from '../../../common/page.js';
import { signatureEvents } from '../../../events/account-events.js';
import type { Executor } from '../engine/executor.js';
import { type Operation, type Row, rowsOf, write } from '../engine/operation.js';
import { integerOf, optionalInteger, optionalText, textOf } from '../engine/rows.js';
import { EventRecorder } from './events/event-recorder.js';
import { setLowBalance } from './low-balance.js';
import { readPage } from './read-page.js';

/** Accounts, API keys and signatures in SQL. */
export class TypeormAccountStore extends AccountStore {
  constructor(
    private readonly executor: Executor,
    private readonly recorder = new EventRecorder(executor),
  ) {
    super();
  }

  override async createAccount({ id, name, createdAt }: Account, host?: HostTransaction): Promise<boolean> {
    const sql = 'INSERT INTO messaging_account (id, name, balance, created_at) VALUES (?, ?, 0, ?)';
    const insert = { sql, params: [id, name, createdAt] };
    return (await this.executor.write(() => this.executor.dialect.insertNew(insert, 'id'), host)) > 0;
  }

  override async findAccount(id: string, host?: HostTransaction): Promise<Account | undefined> {
    const find = () => rowsOf('SELECT id, name, created_at FROM messaging_account WHERE id = ?', id);
    const [row] = await this.executor.read(find, host);
    return row && toAccount(row);
  }

  override listAccounts(page: PageRequest): Promise<Page<Account>> {
    const listing = { table: 'messaging_account', columns: 'id, name, created_at', moment: 'created_at' };
    return this.executor.browse(() =>
      readPage(this.executor.dialect, { ...listing, filters: [], toItem: toAccount }, page),
    );
  }

  override setLowBalance(id: string, threshold: number | undefined): Promise<boolean> {
    return this.executor.write(() => setLowBalance(id, threshold));
  }

  override addKey(key: StoredApiKey, host?: HostTransaction, replaced?: string): Promise<boolean> {
    const { dialect } = this.executor;
    const { id, accountId, hash, createdAt, expiresAt, revokedAt } = key;
    const sql = `INSERT INTO messaging_api_key (id, account_id, hash, created_at, expires_at, revoked_at)
      VALUES (?, ?, ?, ?, ?, ?)`;
    const params = [id, accountId, hash, createdAt, expiresAt ?? null, revokedAt ?? null];
    return this.recorder.write(function* ({ tell }) {
      const isNew = (yield* dialect.insertNew({ sql, params }, 'id')) > 0;
      if (isNew) tell(newKeyEventOf(key, replaced));
      return isNew;
    }, host);
  }

  override async findKey(id: string): Promise<StoredApiKey | undefined> {
    const [row] = await this.rows(`SELECT ${KEY} FROM messaging_api_key WHERE id = ?`, id);
    return row && toKey(row);
  }

  override listKeys(accountId: string, page: PageRequest): Promise<Page<StoredApiKey>> {
    const filters = [{ sql: 'account_id = ?', params: [accountId] }];
    const listing = { table: 'messaging_api_key', columns: KEY, moment: 'created_at', filters, toItem: toKey };
    return this.executor.browse(() => readPage(this.executor.dialect, listing, page));
  }

  override async expireKey(id: string, at: number): Promise<boolean> {
    const sql = `UPDATE messaging_api_key SET expires_at = CASE WHEN expires_at < ? THEN expires_at ELSE ? END WHERE id = ?`;
    return (await this.executor.write(() => write(sql, at, at, id))) > 0;
  }

  override revokeKey(id: string, at: number): Promise<StoredApiKey | undefined> {
    return this.recorder.write(function* ({ tell }): Operation<StoredApiKey | undefined> {
      const revoked = yield* write(
        'UPDATE messaging_api_key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
        at,
        id,
      );
      const [row] = yield* rowsOf(`SELECT ${KEY} FROM messaging_api_key WHERE id = ?`, id);
      if (!row) return undefined;
      const key = revoked > 0 ? { ...toKey(row), revokedAt: undefined } : toKey(row);
      for (const event of revocationEvents(key, at)) tell(event);
      return key;
    });
  }

  override registerSignature({ accountId, name, ...rest }: Signature): Promise<Signature> {
    const { dialect } = this.executor;
    const sql = `INSERT INTO messaging_signature (account_id, name, status, reason, created_at, decided_at)
      VALUES (?, ?, ?, ?, ?, ?)`;
    const params = [accountId, name, rest.status, rest.reason ?? null, rest.createdAt, rest.decidedAt ?? null];
    return this.executor.write(function* (): Operation<Signature> {
      yield* dialect.insertNew({ sql, params }, 'account_id, name');
      return (yield* findSignature(accountId, name)) ?? { accountId, name, ...rest };
    });
  }

  override decideSignature(
    accountId: string,
    name: string,
    status: SignatureStatus,
    reason: string | undefined,
    at: number,
  ): Promise<Signature | undefined> {
    return this.recorder.write(function* ({ tell }): Operation<Signature | undefined> {
      yield* write(
        'UPDATE messaging_signature SET status = ?, reason = ?, decided_at = ? WHERE account_id = ? AND name = ?',
        status,
        reason ?? null,
        at,
        accountId,
        name,
      );
      const signature = yield* findSignature(accountId, name);
      for (const event of signature ? signatureEvents({ accountId, at }, signature) : []) tell(event);
      return signature;
    });
  }

  override listSignatures(accountId: string, page: PageRequest): Promise<Page<Signature>> {
    return this.executor.browse(() => readSignatures(accountId, page));
  }

  override async verifiedSignatures(accountId: string, host?: HostTransaction): Promise<readonly string[]> {
    const sql = "SELECT name FROM messaging_signature WHERE account_id = ? AND status = 'verified'";
    const rows = await this.executor.read(() => rowsOf(sql, accountId), host);
    return rows.map((row) => textOf(row, 'name'));
  }

  override async accountsWith(signature: string): Promise<readonly string[]> {
    const sql = "SELECT account_id FROM messaging_signature WHERE name = ? AND status = 'verified'";
    return (await this.rows(sql, signature)).map((row) => textOf(row, 'account_id'));
  }

  private rows(sql: string, ...params: readonly unknown[]): Promise<readonly Row[]> {
    return this.executor.read(() => rowsOf(sql, ...params));
  }
}

const KEY = 'id, account_id, hash, created_at, expires_at, revoked_at';
const SIGNATURE = 'account_id, name, status, reason, created_at, decided_at';

function* findSignature(accountId: string, name: string): Operation<Signature | undefined> {
  const sql = `SELECT ${SIGNATURE} FROM messaging_signature WHERE account_id = ? AND name = ?`;
  const [row] = yield* rowsOf(sql, accountId, name);
  return row && toSignature(row);
}

/** A page in the order of the primary key, as names are unique and need no further index. */
function* readSignatures(accountId: string, { limit, after }: PageRequest): Operation<Page<Signature>> {
  if (after !== undefined && !(yield* findSignature(accountId, after)))
    throw new MessagingError('error.invalid_cursor');
  const sql = `SELECT ${SIGNATURE} FROM messaging_signature WHERE account_id = ? AND name > ? ORDER BY name LIMIT ?`;
  // No name is empty.
  const rows = yield* rowsOf(sql, accountId, after ?? '', limit + 1);
  const items = rows.slice(0, limit).map(toSignature);
  return { items, next: rows.length > limit ? items.at(-1)?.name : undefined };
}

function toAccount(row: Row): Account {
  return { id: textOf(row, 'id'), name: textOf(row, 'name'), createdAt: integerOf(row, 'created_at') };
}

function toKey(row: Row): StoredApiKey {
  return {
    id: textOf(row, 'id'),
    accountId: textOf(row, 'account_id'),
    hash: textOf(row, 'hash'),
    createdAt: integerOf(row, 'created_at'),
    expiresAt: optionalInteger(row, 'expires_at'),
    revokedAt: optionalInteger(row, 'revoked_at'),
  };
}

function toSignature(row: Row): Signature {
  return {
    accountId: textOf(row, 'account_id'),
    name: textOf(row, 'name'),
    // Only this class writes the column, from values of this type.
    status: textOf(row, 'status') as SignatureStatus,
    reason: optionalText(row, 'reason'),
    createdAt: integerOf(row, 'created_at'),
    decidedAt: optionalInteger(row, 'decided_at'),
  };
}
