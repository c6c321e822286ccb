import { type AccountState, SIGNATURE_STATUSES, type SignatureStatus } from '../../../accounts/account.api.js';
import type { Account, Signature } from '../../../accounts/account-records.js';
import { type AuditAction } from '../../../accounts/audit/audit.api.js';
import { recordAudit } from '../../../accounts/audit/audit.js';
import { type AuditFields, type Author } from '../../../accounts/audit/audit-entry.js';
import { setLowBalance } from '../../../accounts/low-balance.js';
import { findReply, keepReply } from '../../../accounts/replies.js';
import { SIGNATURE, SIGNATURE_BYTES, toSignature } from '../../../accounts/signatures/signature-rows.js';
import { MessagingError } from '../../../common/errors.js';
import { type Page, type PageRequest, withinPage } from '../../../common/listing/page.js';
import type { IdempotencyKey } from '../../../outbox/accept/send.js';
import type { Acceptance } from '../../../outbox/outbox.js';
import { END } from '../../../outbox/queue/queues.js';
import type { Dialect } from '../../../storage/dialect.js';
import type { Database } from '../../../storage/engine/database.js';
import { RecordMovedError } from '../../../storage/engine/faults.js';
import { type Operation, type Row, rowsOf, write } from '../../../storage/engine/operation.js';
import { integerOf, optionalInteger, textOf } from '../../../storage/engine/rows.js';
import { type Listing, readPage, readRows } from '../../../storage/read-page.js';

/** An account in the form that operators see. */
export interface ManagedAccount extends Account {
  readonly state: AccountState;
  /** The balance in units, at least 0. */
  readonly balance: number;
  /** The threshold of `balance.low`. Undefined: none. */
  readonly lowBalance: number | undefined;
}

/** The filter of a listing. */
export interface ManagedAccountQuery extends PageRequest {
  readonly state?: AccountState | undefined;
  /**
   * Only accounts whose id or name begins with this text, which is case-sensitive. Accounts whose id matches come first, by id,
   * then those whose name matches, by name. Without it the newest accounts come first.
   */
  readonly begins?: string | undefined;
}

/** The changes of an account. Undefined fields stay as they are. */
export interface AccountChanges {
  readonly name?: string | undefined;
  /** Null: no threshold. */
  readonly lowBalance?: number | null | undefined;
  readonly state?: AccountState | undefined;
}

/** Who makes a change, and the answer that is kept with it. */
export interface AccountCall {
  readonly by: Author;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly once: IdempotencyKey | undefined;
  /** Makes the reply. It must be pure, and the reply must not contain a secret. */
  readonly replyOf: (account: ManagedAccount) => object;
}

/** The filter of a listing of the signatures of all accounts. */
export interface SignatureQuery {
  readonly limit: number;
  readonly status?: SignatureStatus | undefined;
  /** The last signature of the previous page. */
  readonly after?: Pick<Signature, 'accountId' | 'name' | 'status' | 'createdAt'> | undefined;
}

/** A page of signatures. Its last item is the `after` of the next page. */
export interface SignaturesRead {
  readonly items: readonly Signature[];
  readonly isLast: boolean;
}

/**
 * Reads and changes the accounts of all customers. The transaction of a change also writes the entry of the audit log and the
 * reply under the Idempotency-Key. Every method throws `StorageUnavailableError` if the database does not answer.
 */
export class ManagedAccountStore {
  constructor(private readonly database: Database) {}

  /**
   * Creates an account with a balance of 0. Returns undefined if its id is taken.
   * @throws MessagingError `error.idempotency_mismatch`
   */
  create(account: Account, call: AccountCall): Promise<Acceptance | undefined> {
    return this.database.write(() => createAccount(this.database.dialect, account, call));
  }

  /**
   * Changes an account. Returns undefined if there is none with this id. A value that is already set is no change and gives no
   * entry.
   * @throws MessagingError `error.idempotency_mismatch`
   */
  change(id: string, changes: AccountChanges, call: AccountCall): Promise<Acceptance | undefined> {
    return this.database.write(() => changeAccount(this.database.dialect, id, changes, call));
  }

  find(id: string): Promise<ManagedAccount | undefined> {
    return this.database.read(() => findAccount(id));
  }

  /** Lists accounts. `after` is the `next` of the previous page. @throws MessagingError `error.invalid_cursor` */
  list({ begins, ...query }: ManagedAccountQuery): Promise<Page<ManagedAccount>> {
    const { dialect } = this.database;
    const list = () => (begins === undefined ? listAccounts(dialect, query) : searchAccounts({ ...query, begins }));
    return this.database.browse(list, undefined);
  }

  /**
   * Lists signatures of all accounts: first those that wait for a decision, then the rejected ones, then the verified ones.
   * Within each group the oldest come first.
   */
  signatures(query: SignatureQuery): Promise<SignaturesRead> {
    return this.database.browse(() => listSignatures(query), undefined);
  }
}

const COLUMNS = 'id, name, state, balance, low_below, created_at';

function* createAccount(dialect: Dialect, account: Account, call: AccountCall): Operation<Acceptance | undefined> {
  const earlier = yield* replayOf(call);
  if (earlier) return earlier;
  const { id, name, createdAt } = account;
  const sql = 'INSERT INTO messaging_account (id, name, balance, created_at) VALUES (?, ?, 0, ?)';
  if ((yield* dialect.insertNew({ sql, params: [id, name, createdAt] }, 'id')) === 0) return yield* replayOf(call);
  yield* audit(call, id, 'account.created', undefined, { name });
  return yield* answered(dialect, { ...account, state: 'active', balance: 0, lowBalance: undefined }, call);
}

function* changeAccount(
  dialect: Dialect,
  id: string,
  changes: AccountChanges,
  call: AccountCall,
): Operation<Acceptance | undefined> {
  for (const sql of dialect.lockTimeout) yield { sql, params: [] };
  const columns = COLUMNS.split(', ').map((column) => `a.${column}`);
  // The lock also decides on repeats under the same key.
  const [row] = yield* rowsOf(
    `SELECT ${columns.join(', ')} FROM messaging_account a WHERE a.id = ?${dialect.lock('a', 'wait', 'no key update')}`,
    id,
  );
  if (!row) return undefined;
  const earlier = yield* replayOf(call);
  if (earlier) return earlier;
  const present = toAccount(row);
  const changed: ManagedAccount = {
    ...present,
    name: changes.name ?? present.name,
    state: changes.state ?? present.state,
    lowBalance: changes.lowBalance === undefined ? present.lowBalance : (changes.lowBalance ?? undefined),
  };
  const [before, after] = differences(present, changed);
  if ('name' in after || 'low_balance' in after) yield* audit(call, id, 'account.renamed', before, after);
  if (changed.name !== present.name) {
    yield* write('UPDATE messaging_account SET name = ? WHERE id = ?', changed.name, id);
  }
  if (changed.lowBalance !== present.lowBalance) yield* setLowBalance(id, changed.lowBalance);
  if (changed.state !== present.state) {
    yield* write('UPDATE messaging_account SET state = ? WHERE id = ?', changed.state, id);
    yield* audit(call, id, ACTIONS[changed.state], { state: present.state }, { state: changed.state });
  }
  return yield* answered(dialect, changed, call);
}

const ACTIONS = {
  active: 'account.resumed',
  suspended: 'account.suspended',
  closed: 'account.closed',
} as const satisfies Readonly<Record<AccountState, AuditAction>>;

/** Returns the name and the threshold before and after the change, if they differ. */
function differences(
  present: ManagedAccount,
  changed: ManagedAccount,
): readonly [before: AuditFields, after: AuditFields] {
  const fieldsOf = ({ name, lowBalance }: ManagedAccount) => ({
    ...(present.name === changed.name ? {} : { name }),
    ...(present.lowBalance === changed.lowBalance ? {} : { low_balance: lowBalance ?? null }),
  });
  return [fieldsOf(present), fieldsOf(changed)];
}

function audit(
  { at, by }: AccountCall,
  accountId: string,
  action: AuditAction,
  before: AuditFields | undefined,
  after: AuditFields,
): Operation<void> {
  return recordAudit({ accountId, at, by, action, target: accountId, before, after });
}

function* replayOf({ once, at }: AccountCall): Operation<Acceptance | undefined> {
  const kept = once && (yield* findReply(once, at));
  if (!kept) return undefined;
  if (kept.fingerprint !== once.fingerprint) throw new MessagingError('error.idempotency_mismatch');
  return { reply: kept.reply, replayed: true };
}

function* answered(
  dialect: Dialect,
  account: ManagedAccount,
  { once, at, replyOf }: AccountCall,
): Operation<Acceptance> {
  const reply = replyOf(account);
  // Up to here two creations have no common lock. The transaction is repeated, and then replays the reply of the other creation.
  if (once && (yield* keepReply(dialect, once, reply, at)))
    throw new RecordMovedError('A reply exists under this key.');
  return { reply, replayed: false };
}

function* findAccount(id: string): Operation<ManagedAccount | undefined> {
  const [row] = yield* rowsOf(`SELECT ${COLUMNS} FROM messaging_account WHERE id = ?`, id);
  return row && toAccount(row);
}

function listAccounts(dialect: Dialect, { state, ...page }: ManagedAccountQuery): Operation<Page<ManagedAccount>> {
  const shown = state === undefined ? [] : [{ sql: 'state = ?', params: [state] }];
  const listing: Listing<ManagedAccount> = {
    table: 'messaging_account',
    columns: COLUMNS,
    bytes: undefined,
    moment: 'created_at',
    filters: [],
    shown,
    toItem: toAccount,
  };
  return readPage(dialect, listing, page);
}

/** Reads a range of the ids, then one of the names, each in the order of an index. */
function* searchAccounts({
  begins,
  state,
  limit,
  after,
}: ManagedAccountQuery & { readonly begins: string }): Operation<Page<ManagedAccount>> {
  const last = after === undefined ? undefined : yield* findAccount(after);
  if (after !== undefined && !last) throw new MessagingError('error.invalid_cursor');
  const [isState, states] = state === undefined ? ['', []] : [' AND state = ?', [state]];
  const range = [begins, `${begins}${END}`];
  const found: Row[] = [];
  if (!last || last.id.startsWith(begins)) {
    const sql = `SELECT ${COLUMNS} FROM messaging_account WHERE id >= ? AND id < ? AND id > ?${isState} ORDER BY id LIMIT ?`;
    found.push(...(yield* rowsOf(sql, ...range, last?.id ?? '', ...states, limit + 1)));
  }
  if (found.length <= limit) {
    const isBehind = last && !last.id.startsWith(begins);
    const sql = `SELECT ${COLUMNS} FROM messaging_account WHERE name >= ? AND name < ? AND NOT (id >= ? AND id < ?)
      ${isBehind ? 'AND name >= ? AND (name > ? OR id > ?)' : ''}${isState} ORDER BY name, id LIMIT ?`;
    const place = isBehind ? [last.name, last.name, last.id] : [];
    found.push(...(yield* rowsOf(sql, ...range, ...range, ...place, ...states, limit + 1 - found.length)));
  }
  const items = found.slice(0, limit).map(toAccount);
  return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
}

/** The statuses in alphabetical order, so that `pending` is the first. */
const STATUSES = [...SIGNATURE_STATUSES].sort();

function* listSignatures({ limit, status, after }: SignatureQuery): Operation<SignaturesRead> {
  const found: Signature[] = [];
  for (const each of status === undefined ? STATUSES : [status]) {
    if (after && each < after.status) continue;
    const place =
      after?.status === each
        ? {
            sql: ' AND created_at >= ? AND (created_at > ? OR account_id > ? OR (account_id = ? AND name > ?))',
            params: [after.createdAt, after.createdAt, after.accountId, after.accountId, after.name],
          }
        : { sql: '', params: [] };
    const read = (columns: string, most: number) =>
      rowsOf(
        `SELECT ${columns} FROM messaging_signature
          WHERE status = ?${place.sql} ORDER BY created_at, account_id, name LIMIT ?`,
        each,
        ...place.params,
        most,
      );
    // The loop reads on even if the page is full, because one row of a further state shows that there is a next page.
    const { rows, isLast } = yield* readRows(read, SIGNATURE, SIGNATURE_BYTES, Math.max(1, limit - found.length));
    found.push(...rows.map(toSignature));
    if (!isLast || found.length > limit) return cut(found, limit, false);
  }
  return cut(found, limit, true);
}

/** Returns those rows that fit into a page. The rows were read state by state. */
function cut(found: readonly Signature[], limit: number, isLast: boolean): SignaturesRead {
  const items = withinPage(found.slice(0, limit), ({ reason = '' }) => 500 + Buffer.byteLength(reason));
  return { items, isLast: isLast && items.length === found.length };
}

function toAccount(row: Row): ManagedAccount {
  return {
    id: textOf(row, 'id'),
    name: textOf(row, 'name'),
    // The cast is safe, because only this package writes the column.
    state: textOf(row, 'state') as AccountState,
    balance: integerOf(row, 'balance'),
    lowBalance: optionalInteger(row, 'low_below'),
    createdAt: integerOf(row, 'created_at'),
  };
}
