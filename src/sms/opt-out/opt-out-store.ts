import { recordAudit } from '../../accounts/audit/audit.js';
import { type AuditEntry } from '../../accounts/audit/audit-entry.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Page, PageRequest } from '../../common/listing/page.js';
import { optOutEvent } from '../../events/account-events.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { NewEvent } from '../../events/event-types.js';
import type { OptOutSource } from '../../events/events.api.js';
import type { Walked } from '../../outbox/retention/retention-records.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, type RowShape, textOf } from '../../storage/engine/rows.js';
import { readPage } from '../../storage/read-page.js';
import { isPhone } from '../phone-filter.js';

/** The value for all accounts in place of an account's id. No account has this id. */
export const EVERY_ACCOUNT = '*';

/** A number that does not receive SMS under a signature of an account. */
export interface OptOutKey {
  /** The id of an account, or {@link EVERY_ACCOUNT}. */
  readonly accountId: string;
  readonly signature: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
}

/** An entry of the suppression list. */
export interface OptOut extends OptOutKey {
  readonly id: string;
  readonly source: OptOutSource;
  /** When the entry was added, in milliseconds since the epoch. */
  readonly at: number;
}

/** The filter of a listing. */
export interface OptOutQuery extends PageRequest {
  readonly accountId: string;
  readonly signature?: string | undefined;
  readonly number?: string | undefined;
}

/** Returns the audit entries for opt-outs that were added or removed. If none were changed, it returns no entries. */
export type AuditOf = (changed: readonly OptOut[]) => readonly AuditEntry[];

/**
 * Persists the suppression list. Every method is one transaction.
 * @throws StorageUnavailableError from every method, if the database is unavailable
 */
export class OptOutStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /**
   * Adds entries and returns those that were added. If an entry with the same key exists, it stays unchanged. Records
   * `optout.added` for each added entry, unless it applies to all accounts.
   * @param auditOf returns the audit entries for the added opt-outs. It must be pure. Default: none
   */
  add(entries: readonly OptOut[], auditOf: AuditOf = () => []): Promise<readonly OptOut[]> {
    const { dialect } = this.database;
    return this.recorder.write(function* ({ publish }) {
      const added = yield* addOptOuts(dialect, entries);
      // An opt-out for all accounts gives no event, because an account may never have written to that phone.
      for (const entry of added)
        if (entry.accountId !== EVERY_ACCOUNT) publish(optOutEvent('optout.added', entry, entry));
      for (const entry of auditOf(added)) yield* recordAudit(entry);
      return added;
    });
  }

  /**
   * Removes entries and returns them. With `source`, it removes only entries from that source.
   * @param eventsOf returns the events to record for the removed entries. It must be pure. Default: none
   * @param auditOf returns the audit entries for the removed opt-outs. It must be pure. Default: none
   */
  remove(
    keys: readonly OptOutKey[],
    source?: OptOutSource,
    eventsOf: (removed: readonly OptOut[]) => readonly NewEvent[] = () => [],
    auditOf: AuditOf = () => [],
  ): Promise<readonly OptOut[]> {
    const { dialect } = this.database;
    return this.recorder.write(function* ({ publish }) {
      const removed = yield* removeOptOuts(dialect, keys, source);
      for (const event of eventsOf(removed)) if (event.accountId !== EVERY_ACCOUNT) publish(event);
      for (const entry of auditOf(removed)) yield* recordAudit(entry);
      return removed;
    });
  }

  /** Returns the entry of an account with this id. Undefined if there is none, or no longer. */
  async find(accountId: string, id: string): Promise<OptOut | undefined> {
    const sql = `SELECT ${COLUMNS.join(', ')} FROM messaging_opt_out WHERE id = ? AND account_id = ?`;
    const [row] = await this.database.read(() => rowsOf(sql, id, accountId));
    return row && toOptOut(row);
  }

  /** Returns the signatures under which an account has or had entries. */
  signatures(accountId: string): Promise<readonly string[]> {
    return this.database.read(() => optOutSignatures(accountId));
  }

  /** Returns the keys that are on the list. With `host`, it reads in the host's open transaction and does not wait for locks. */
  among(keys: readonly OptOutKey[], host?: HostTransaction): Promise<readonly OptOutKey[]> {
    const find = () => findOptOuts(this.database.dialect, keys);
    return this.database.read(find, host);
  }

  /**
   * Lists entries, newest first. `after` is the id of the last entry of the previous page.
   * @throws MessagingError `error.invalid_cursor` if `after` is not on the list, or no longer
   */
  list(query: OptOutQuery): Promise<Page<OptOut>> {
    return this.database.browse(() => listOptOuts(this.database.dialect, query), query.accountId);
  }

  /** Returns those of `signatures` whose numbers may be keyed hashes. */
  async hashedSignatures(accountId: string): Promise<readonly string[]> {
    const rows = await this.database.read(() =>
      rowsOf('SELECT signature, hashed_at FROM messaging_opt_out_list WHERE account_id = ?', accountId),
    );
    return rows.flatMap((row) => (optionalInteger(row, 'hashed_at') === undefined ? [] : [textOf(row, 'signature')]));
  }

  /**
   * Finds the entries of a number in the next `limit` lists. A list is a signature of an account.
   * @param after the `next` of the previous page. '' for the first page
   */
  entriesOf(number: string, after: string, limit: number): Promise<Walked<OptOut>> {
    return this.database.browse(() => entriesOfNumber(this.database.dialect, number, after, limit), undefined);
  }

  /**
   * Marks the lists of these keys, so that `hashedSignatures` returns them.
   * @param now milliseconds since the epoch
   * @returns since when all of them are marked
   */
  allowHashes(keys: readonly OptOutKey[], now: number): Promise<number> {
    return this.database.write(() => allowHashesOf(this.database.dialect, keys, now));
  }

  /** Replaces the number of entries. If the list already has the new number, the entry is removed. */
  renumber(entries: readonly OptOut[], number: string): Promise<void> {
    return this.database.write(() => renumberOptOuts(this.database.dialect, entries, number));
  }
}

const LIST: RowShape = { account_id: 'id', signature: 'id' };
const KEY: RowShape = { ...LIST, number: 'id' };
const ENTRY: RowShape = { ...KEY, id: 'id', source: 'id', added_at: 'integer' };
const COLUMNS = Object.keys(ENTRY);

/** See `OptOutStore.add`. */
function* addOptOuts(dialect: Dialect, entries: readonly OptOut[]): Operation<readonly OptOut[]> {
  if (entries.length === 0) return [];
  // The rows are sorted, so that two transactions that add the same entries cannot deadlock.
  const rows = entries.map((entry) => [...keyOf(entry), entry.id, entry.source, entry.at]).sort();
  const lists = [
    ...new Map(rows.map(([account, signature]) => [`${signature} ${account}`, [account, signature]])).values(),
  ];
  yield dialect.insertRows({
    table: 'messaging_opt_out_list',
    shape: LIST,
    rows: lists,
    onDuplicate: ['account_id, signature'],
  });
  yield dialect.insertRows({
    table: 'messaging_opt_out',
    shape: ENTRY,
    rows,
    onDuplicate: ['account_id, signature, number'],
  });
  const added = yield* rowsOf(
    `SELECT id FROM messaging_opt_out WHERE id ${dialect.among()}`,
    JSON.stringify(entries.map(({ id }) => id)),
  );
  const ids = new Set(added.map((row) => textOf(row, 'id')));
  return entries.filter(({ id }) => ids.has(id));
}

/** See `OptOutStore.remove`. */
function* removeOptOuts(
  dialect: Dialect,
  keys: readonly OptOutKey[],
  source?: OptOutSource,
): Operation<readonly OptOut[]> {
  if (keys.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT ${COLUMNS.map((name) => `o.${name}`).join(', ')} FROM ${found(dialect)}${dialect.lock('o', 'wait')}`,
    JSON.stringify(keys.map(keyOf).sort()),
  );
  const removed = rows.map(toOptOut).filter((entry) => source === undefined || entry.source === source);
  if (removed.length === 0) return [];
  yield* write(
    `DELETE FROM messaging_opt_out WHERE id ${dialect.among()}`,
    JSON.stringify(removed.map(({ id }) => id)),
  );
  return removed;
}

/** See `OptOutStore.among`. */
function* findOptOuts(dialect: Dialect, keys: readonly OptOutKey[]): Operation<readonly OptOutKey[]> {
  if (keys.length === 0) return [];
  const rows = yield* rowsOf(
    `SELECT o.account_id, o.signature, o.number FROM ${found(dialect)}`,
    JSON.stringify(keys.map(keyOf)),
  );
  return rows.map(toKey);
}

/** See `OptOutStore.signatures`. */
function* optOutSignatures(accountId: string): Operation<readonly string[]> {
  const rows = yield* rowsOf('SELECT signature FROM messaging_opt_out_list WHERE account_id = ?', accountId);
  return rows.map((row) => textOf(row, 'signature'));
}

/** See `OptOutStore.list`. */
function* listOptOuts(
  dialect: Dialect,
  { accountId, signature, number, ...page }: OptOutQuery,
): Operation<Page<OptOut>> {
  const filters = [
    { sql: 'account_id = ?', params: [accountId] },
    ...(signature === undefined ? [] : [{ sql: 'signature = ?', params: [signature] }]),
    ...(number === undefined ? [] : [isPhone('number', number)]),
  ];
  return yield* readPage(
    dialect,
    {
      table: 'messaging_opt_out',
      columns: COLUMNS.join(', '),
      bytes: undefined,
      moment: 'added_at',
      filters,
      toItem: toOptOut,
    },
    page,
  );
}

/** See `OptOutStore.entriesOf`. */
function* entriesOfNumber(dialect: Dialect, number: string, after: string, limit: number): Operation<Walked<OptOut>> {
  const [account, signature]: readonly string[] = after === '' ? ['', ''] : JSON.parse(after);
  const lists = yield* rowsOf(
    `SELECT account_id, signature FROM messaging_opt_out_list
      WHERE account_id >= ? AND (account_id > ? OR signature > ?) ORDER BY account_id, signature LIMIT ?`,
    account,
    account,
    signature,
    limit,
  );
  const keys = lists.map((row) => ({ ...toListKey(row), number }));
  const rows = yield* rowsOf(
    `SELECT ${COLUMNS.map((name) => `o.${name}`).join(', ')} FROM ${found(dialect)}`,
    JSON.stringify(keys.map(keyOf)),
  );
  const last = lists.at(-1);
  const next = lists.length < limit || !last ? undefined : JSON.stringify([last.account_id, last.signature]);
  return { found: rows.map(toOptOut), next };
}

/** See `OptOutStore.allowHashes`. */
function* allowHashesOf(dialect: Dialect, keys: readonly OptOutKey[], now: number): Operation<number> {
  if (keys.length === 0) return now;
  const rows = keys.map(({ accountId, signature }) => [accountId, signature]).sort();
  yield dialect.updateRows({
    table: 'messaging_opt_out_list',
    set: { hashed_at: 'coalesce(messaging_opt_out_list.hashed_at, ?)' },
    params: [now],
    shape: LIST,
    rows,
    on: SAME_LIST,
  });
  const found = yield* rowsOf(
    `SELECT l.hashed_at FROM ${dialect.rows(LIST)} ${dialect.thenJoin} messaging_opt_out_list l${dialect.by('primary key')}
      ON ${dialect.lookUp('l.account_id = v.account_id AND l.signature = v.signature')}`,
    JSON.stringify(rows),
  );
  return Math.max(...found.map((row) => integerOf(row, 'hashed_at')));
}

const SAME_LIST = 'messaging_opt_out_list.account_id = v.account_id AND messaging_opt_out_list.signature = v.signature';

/** See `OptOutStore.renumber`. */
function* renumberOptOuts(dialect: Dialect, entries: readonly OptOut[], number: string): Operation<void> {
  const removed = yield* removeOptOuts(dialect, entries);
  yield* addOptOuts(
    dialect,
    removed.map((entry) => ({ ...entry, number })),
  );
}

/** Returns the part of a query that finds the entries of the keys in one JSON parameter. */
function found(dialect: Dialect): string {
  return `${dialect.rows(KEY)} ${dialect.thenJoin} messaging_opt_out o${dialect.by('primary key')}
    ON ${dialect.lookUp('o.account_id = v.account_id AND o.signature = v.signature AND o.number = v.number')}`;
}

function keyOf({ accountId, signature, number }: OptOutKey): readonly string[] {
  return [accountId, signature, number];
}

function toListKey(row: Row): Pick<OptOutKey, 'accountId' | 'signature'> {
  return { accountId: textOf(row, 'account_id'), signature: textOf(row, 'signature') };
}

function toKey(row: Row): OptOutKey {
  return { ...toListKey(row), number: textOf(row, 'number') };
}

function toOptOut(row: Row): OptOut {
  return {
    ...toKey(row),
    id: textOf(row, 'id'),
    // The cast is safe, because only this package writes the column.
    source: textOf(row, 'source') as OptOutSource,
    at: integerOf(row, 'added_at'),
  };
}
