import { MessagingError } from '../common/errors.js';
import { REFUNDED_STATUSES, sqlListOf } from '../events/delivery-status.js';
import type { Dialect } from '../storage/dialect.js';
import type { Database } from '../storage/engine/database.js';
import { type Operation, type Row, rowsOf } from '../storage/engine/operation.js';
import { integerOf, textOf } from '../storage/engine/rows.js';
import { type LedgerPart } from './ledger.api.js';
import { type LedgerCheck, MAX_FAULTS } from './ledger-entry.js';

const REFUNDED = sqlListOf(REFUNDED_STATUSES);

/** Reads a table in the order of its primary key, some rows at a time, and searches for faults in them. */
interface Pass {
  readonly part: LedgerPart;
  readonly table: string;
  /** The columns of the primary key. `start` is a place before all rows. */
  readonly key: readonly string[];
  readonly start: Place;
  /** How many rows are checked at a time. */
  readonly rows: number;
  /** A column with the number of rows of other tables that the check of a row reads, and the most of them at a time. */
  readonly weight?: { readonly column: string; readonly most: number };
  /**
   * Queries that find inconsistencies of the rows `c` in `{range}`. The column `fault` is a sentence about one of them.
   * Each query is one statement, so it sees one state of the database. A message, its recipients and their entries are
   * written in one transaction, so such a state has either all of them or none.
   *
   * No query repeats a check of another one, so that a fault is reported once. For example, no query compares a
   * message's refunded units with the ledger: others compare both with the message's recipients.
   */
  readonly faults: readonly string[];
}

type Place = readonly (string | number)[];

const PASSES: readonly Pass[] = [
  {
    part: 'accounts',
    table: 'messaging_account',
    key: ['id'],
    start: [''],
    rows: 100,
    faults: [
      `SELECT concat('Account ', c.id, ': the balance is negative, ', c.balance, '.') AS fault FROM messaging_account c
        WHERE {range} AND c.balance < 0`,
    ],
  },
  {
    part: 'entries',
    table: 'messaging_ledger',
    key: ['id'],
    start: [''],
    rows: 1000,
    faults: [
      `SELECT DISTINCT concat('Account ', c.account_id, ': it does not exist and has entries.') AS fault FROM messaging_ledger c
        WHERE {range} AND NOT EXISTS (SELECT 1 FROM messaging_account a WHERE a.id = c.account_id)`,
      `SELECT concat('Top-up ', c.id, ' of account ', c.account_id, ': its units are negative, ', c.units, '.') AS fault
        FROM messaging_ledger c WHERE {range} AND c.kind = 'topup' AND c.units < 0`,
      `SELECT concat('Charge ', c.id, ': there is no message ', coalesce(c.message_id, ''), '.') AS fault
        FROM messaging_ledger c
        WHERE {range} AND c.kind = 'charge' AND NOT EXISTS (SELECT 1 FROM messaging_message m WHERE m.id = c.message_id)`,
      `SELECT concat('Charge ', c.id, ': ', c.units, ' units of account ', c.account_id, ' were booked for message ', m.id,
          ' of ', m.units, ' units of account ', m.account_id, '.') AS fault
        FROM messaging_ledger c JOIN messaging_message m ON m.id = c.message_id
        WHERE {range} AND c.kind = 'charge' AND (c.units + m.units <> 0 OR c.account_id <> m.account_id)`,
      // The id of a charge is the id of its message. A second charge of the message must have another id, so both are
      // found.
      `SELECT concat('Message ', c.message_id, ': it was charged more than once, also by ', c.id, '.') AS fault
        FROM messaging_ledger c JOIN messaging_ledger o ON o.id = c.message_id AND o.kind = 'charge'
        WHERE {range} AND c.kind = 'charge' AND c.id <> c.message_id`,
      `SELECT concat('Refund ', c.id, ': ', c.units, ' units went to account ', c.account_id, ', but no failed or canceled recipient of message ',
          coalesce(c.message_id, ''), ' of this account had so many units.') AS fault
        FROM messaging_ledger c WHERE {range} AND c.kind = 'refund' AND NOT EXISTS (
          SELECT 1 FROM messaging_recipient r JOIN messaging_message m ON m.id = r.message_id
          WHERE r.message_id = c.message_id AND r.position = c.position AND r.status IN (${REFUNDED}) AND r.units = c.units
            AND m.account_id = c.account_id)
          AND NOT EXISTS (SELECT 1 FROM messaging_message m
            WHERE m.id = c.message_id AND m.removed_at IS NOT NULL AND m.account_id = c.account_id)`,
      `SELECT concat('Message ', c.message_id, ': recipient ', c.position, ' was refunded more than once, also by ', c.id,
          '.') AS fault
        FROM messaging_ledger c
          JOIN messaging_ledger o ON o.id = concat(c.message_id, ':', c.position) AND o.kind = 'refund'
        WHERE {range} AND c.kind = 'refund' AND c.id <> o.id`,
    ],
  },
  {
    part: 'messages',
    table: 'messaging_message',
    key: ['id'],
    start: [''],
    rows: 1000,
    weight: { column: 'recipients', most: 2000 },
    faults: [
      `SELECT concat('Message ', c.id, ': there is no charge.') AS fault FROM messaging_message c
        WHERE {range} AND NOT EXISTS (SELECT 1 FROM messaging_ledger l WHERE l.id = c.id AND l.kind = 'charge')`,
      `SELECT concat('Message ', c.id, ': its units are ', c.units, ' and ', c.refunded_units,
          ' refunded, its recipients make ', coalesce(sum(r.units), 0), ' and ', coalesce(sum(r.refunded_units), 0), '.')
          AS fault
        FROM messaging_message c LEFT JOIN messaging_recipient r ON r.message_id = c.id
        WHERE {range} AND c.removed_at IS NULL
        GROUP BY c.id, c.units, c.refunded_units
        HAVING c.units <> coalesce(sum(r.units), 0) OR c.refunded_units <> coalesce(sum(r.refunded_units), 0)`,
      // The recipients of a removed message are removed too, so its refunded units are compared with its refunds. These
      // are neighbours in the primary key.
      `SELECT concat('Message ', c.id, ': its refunded units are ', c.refunded_units, ', its refunds make ',
          coalesce(sum(l.units), 0), '.') AS fault
        FROM messaging_message c LEFT JOIN messaging_ledger l
          ON l.id > concat(c.id, ':') AND l.id < concat(c.id, ';') AND l.kind = 'refund'
        WHERE {range} AND c.removed_at IS NOT NULL
        GROUP BY c.id, c.refunded_units HAVING c.refunded_units <> coalesce(sum(l.units), 0)`,
    ],
  },
  {
    part: 'recipients',
    table: 'messaging_recipient',
    key: ['message_id', 'position'],
    start: ['', -1],
    rows: 1000,
    faults: [
      `SELECT concat('Message ', c.message_id, ': recipient ', c.position, ' is ', c.status, ', its units are ', c.units,
          ' and ', c.refunded_units, ' refunded.') AS fault
        FROM messaging_recipient c
        WHERE {range} AND (c.units < 0 OR c.refunded_units <> CASE WHEN c.status IN (${REFUNDED}) THEN c.units ELSE 0 END)`,
      `SELECT concat('Message ', c.message_id, ': recipient ', c.position, ' is ', c.status, ' and was not refunded.') AS fault
        FROM messaging_recipient c WHERE {range} AND c.status IN (${REFUNDED}) AND c.units > 0
          AND NOT EXISTS (
            SELECT 1 FROM messaging_ledger l WHERE l.id = concat(c.message_id, ':', c.position) AND l.kind = 'refund')`,
    ],
  },
];

/** Checks the consistency of balances, ledger and messages: see `LedgerStore.check`. */
export async function checkBooks(
  database: Database,
  { after, onProgress = () => undefined }: LedgerCheck,
): Promise<readonly string[]> {
  const begun = after === undefined ? undefined : placeOf(after);
  const faults: string[] = [];
  for (const pass of PASSES.slice(begun ? PASSES.indexOf(begun.pass) : 0)) {
    let place = begun?.pass === pass ? begun.place : pass.start;
    let checked = 0;
    for (;;) {
      const from = place;
      const rows = await database.browse(() => nextRows(database.dialect, pass, from), undefined);
      const last = rows.at(-1);
      if (!last) break;
      place = pass.key.map((column) => (column === 'position' ? integerOf(last, column) : textOf(last, column)));
      const to = place;
      faults.push(...(await database.browse(() => faultsIn(database.dialect, pass, from, to), undefined)));
      if (pass.part === 'accounts') faults.push(...(await wrongBalances(database, from, to, rows)));
      if (faults.length >= MAX_FAULTS) return faults.slice(0, MAX_FAULTS);
      checked += rows.length;
      onProgress({ part: pass.part, checked, next: [pass.part, ...place].join(':') });
    }
  }
  return faults;
}

/** @throws MessagingError `error.invalid_cursor` if it is not a place of a check */
function placeOf(after: string): { readonly pass: Pass; readonly place: Place } {
  const [part = '', ...words] = after.split(':');
  const pass = PASSES.find((each) => each.part === part);
  const behind = pass && pass.key.length > 1 ? Number(words.pop()) : undefined;
  if (!pass || words.length === 0 || Number.isNaN(behind)) throw new MessagingError('error.invalid_cursor');
  // An id may contain colons.
  const id = words.join(':');
  return { pass, place: behind === undefined ? [id] : [id, behind] };
}

function* nextRows(dialect: Dialect, { table, key, rows, weight }: Pass, from: Place): Operation<readonly Row[]> {
  const beyond = dialect.keyset('c', key, '>', from);
  const columns = [...key, ...(weight ? [weight.column] : [])].join(', ');
  const found = yield* rowsOf(
    `SELECT ${columns} FROM ${table} c WHERE ${beyond.sql} ORDER BY ${key.join(', ')} LIMIT ?`,
    ...beyond.params,
    rows,
  );
  if (!weight) return found;
  let sum = 0;
  const most = found.findIndex((row) => {
    sum += integerOf(row, weight.column);
    return sum > weight.most;
  });
  return most < 0 ? found : found.slice(0, Math.max(1, most));
}

function* faultsIn(dialect: Dialect, pass: Pass, from: Place, to: Place): Operation<readonly string[]> {
  for (const sql of dialect.beforeCheck) yield { sql, params: [] };
  const faults: string[] = [];
  for (const sql of pass.faults) faults.push(...(yield* faultsBy(dialect, sql, pass.key, from, to)));
  return faults;
}

function* faultsBy(
  dialect: Dialect,
  sql: string,
  key: readonly string[],
  from: Place,
  to: Place,
): Operation<readonly string[]> {
  const beyond = dialect.keyset('c', key, '>', from);
  const upTo = dialect.keyset('c', key, '<=', to);
  const lookedUp = sql.replace(/\w+\.\w+ = \w+\.\w+/g, (on) => dialect.lookUp(on));
  const { rows } = yield {
    sql: `${lookedUp.replace('{range}', `${beyond.sql} AND ${upTo.sql}`)} LIMIT ${MAX_FAULTS}`,
    params: [...beyond.params, ...upTo.params],
    noTimeout: true,
  };
  return rows.map(({ fault }) => String(fault));
}

function wrongBalances(database: Database, from: Place, to: Place, rows: readonly Row[]): Promise<readonly string[]> {
  const { dialect } = database;
  if (dialect.blocksWhileReading) return wrongBalancesInTurn(database, rows);
  const find = function* (): Operation<readonly string[]> {
    for (const sql of dialect.beforeCheck) yield { sql, params: [] };
    return yield* faultsBy(dialect, WRONG_BALANCE, ['id'], from, to);
  };
  return database.browse(find, undefined);
}

/**
 * One statement reads the balance and the entries, so that both are of one state of the database. It may take seconds,
 * but it locks nothing.
 */
const WRONG_BALANCE = `SELECT concat('Account ', c.id, ': the balance is ', c.balance, ', its entries make ',
    coalesce(sum(l.units), 0), '.') AS fault
  FROM messaging_account c LEFT JOIN messaging_ledger l ON l.account_id = c.id WHERE {range}
  GROUP BY c.id, c.balance HAVING c.balance <> coalesce(sum(l.units), 0)`;

/** How many entries of an account are summed at a time on a database that blocks the event loop while it reads. */
const ENTRIES = 5000;

/** How often an account whose sum differs is summed again before it is reported. */
const ATTEMPTS = 5;

async function wrongBalancesInTurn(database: Database, rows: readonly Row[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const row of rows) {
    const fault = await wrongBalance(database, textOf(row, 'id'), 1);
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}

/**
 * Sums an account's entries in the order of their times, some at a time, and compares the sum with the balance. Entries
 * are only added, and the last statement reads the balance together with the newest entries. So the sum can miss an
 * entry only if it was added during the check with a time that is earlier than that of more than `ENTRIES` others. With
 * one writer at a time, an entry is stored within seconds of its time, so the next attempt counts it.
 */
async function wrongBalance(database: Database, id: string, attempt: number): Promise<string | undefined> {
  let sum = 0;
  let after: Place = [Number.MIN_SAFE_INTEGER, ''];
  for (;;) {
    const from = after;
    const entries = await database.browse(() => nextEntries(database.dialect, id, from), id);
    const last = entries.at(-1);
    // This cannot happen: the account existed a moment ago, and accounts are not removed.
    if (!last) return undefined;
    const isEnd = entries.length < ENTRIES;
    if (last.id !== null) {
      for (const entry of entries) sum += integerOf(entry, 'units');
      after = [integerOf(last, 'posted_at'), textOf(last, 'id')];
    }
    if (!isEnd) continue;
    const balance = integerOf(last, 'balance');
    if (balance === sum) return undefined;
    if (attempt < ATTEMPTS) return wrongBalance(database, id, attempt + 1);
    return `Account ${id}: the balance is ${balance}, its entries make ${sum}.`;
  }
}

function nextEntries(dialect: Dialect, id: string, from: Place): Operation<readonly Row[]> {
  const beyond = dialect.keyset('l', ['posted_at', 'id'], '>', from);
  return rowsOf(
    `SELECT a.balance, e.units, e.posted_at, e.id FROM messaging_account a LEFT JOIN (
        SELECT l.units, l.posted_at, l.id FROM messaging_ledger l${dialect.by('messaging_ledger_account')} WHERE l.account_id = ? AND ${beyond.sql}
        ORDER BY l.posted_at, l.id LIMIT ${ENTRIES}) e ON 1 = 1
      WHERE a.id = ? ORDER BY e.posted_at, e.id`,
    id,
    ...beyond.params,
    id,
  );
}
