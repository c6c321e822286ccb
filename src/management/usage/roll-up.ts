import type { Cancellation } from '../../common/concurrency/async.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../common/time.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, rowsOf, write } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, type RowShape, shapeOf, textOf } from '../../storage/engine/rows.js';
import { type Attributed, attribute } from './attribution.js';
import { type RolledUp, type RollUpOrder } from './usage-records.js';

/** How long a process may work on an account before another process may take it, in milliseconds. */
const CLAIM_MS = 10 * MINUTE_MS;

/** See `UsageStore.rollUp`. */
export async function rollUpAccounts(database: Database, order: RollUpOrder): Promise<RolledUp> {
  const accounts = await database.browse(() => findAccounts(database.dialect, order), undefined);
  let hours = 0;
  for (const account of accounts) {
    if (order.signal.aborted) break;
    const isDue = account.next !== undefined && account.next < order.until;
    const isVerified = order.verifyFrom === undefined || (account.last ?? 0) < order.verifyFrom;
    if (!isDue && isVerified) continue;
    if (!(await database.writeAside(() => claimAccount(database.dialect, account.id, order.now)))) continue;
    try {
      hours += isDue ? await rollUpNew(database, account.id, order) : 0;
      hours += isVerified ? 0 : await verify(database, account, order);
    } finally {
      await database.writeAside(() =>
        write('UPDATE messaging_usage_account SET claimed_until = 0 WHERE account_id = ?', account.id),
      );
    }
  }
  return { hours, next: accounts.length < order.limit ? undefined : accounts.at(-1)?.id };
}

interface DueAccount {
  readonly id: string;
  readonly doneUntil: number;
  /** The time of the first entry that is not rolled up, and of the last entry. */
  readonly next: number | undefined;
  readonly last: number | undefined;
}

/** It makes two seeks in the index of the ledger for each account. MariaDB cannot seek to a time that is a column. */
function* findAccounts(dialect: Dialect, { after, limit }: RollUpOrder): Operation<readonly DueAccount[]> {
  const rows = yield* rowsOf(
    `SELECT a.id, coalesce(u.done_until, 0) AS done_until,
        (SELECT l.posted_at FROM messaging_ledger l${dialect.by('messaging_ledger_account')} WHERE l.account_id = a.id ORDER BY l.posted_at DESC LIMIT 1) AS last
      FROM messaging_account a LEFT JOIN messaging_usage_account u ON ${dialect.lookUp('u.account_id = a.id')}
      WHERE a.id > ? ORDER BY a.id LIMIT ?`,
    after,
    limit,
  );
  if (rows.length === 0) return [];
  const seeks = dialect.ofEach(
    `SELECT v.n AS n, l.posted_at AS next FROM messaging_ledger l${dialect.by('messaging_ledger_account')}
      WHERE l.account_id = v.account AND l.posted_at >= v.since ORDER BY l.posted_at LIMIT 1`,
    PLACE,
    rows.map((row, n) => [textOf(row, 'id'), n, integerOf(row, 'done_until')]),
  );
  const next = new Map((yield seeks).rows.map((row) => [integerOf(row, 'n'), integerOf(row, 'next')]));
  return rows.map((row, n) => ({
    id: textOf(row, 'id'),
    doneUntil: integerOf(row, 'done_until'),
    next: next.get(n),
    last: optionalInteger(row, 'last'),
  }));
}

const PLACE: RowShape = { account: 'id', n: 'integer', since: 'integer' };

/** Claims an account for this process, for a time. Returns false while another process works on it. */
function* claimAccount(dialect: Dialect, accountId: string, now: number): Operation<boolean> {
  const sql = 'INSERT INTO messaging_usage_account (account_id, done_until, claimed_until) VALUES (?, 0, ?)';
  const insert = { sql, params: [accountId, now + CLAIM_MS] };
  if ((yield* dialect.insertNew(insert, 'account_id')) > 0) return true;
  const claimed = yield* write(
    'UPDATE messaging_usage_account SET claimed_until = ? WHERE account_id = ? AND claimed_until <= ?',
    now + CLAIM_MS,
    accountId,
    now,
  );
  return claimed > 0;
}

/** Rolls up the hours of an account that are over. Skips hours without entries. */
async function rollUpNew(database: Database, accountId: string, { until, signal }: RollUpOrder): Promise<number> {
  let hours = 0;
  for (;;) {
    const next = await database.browse(() => nextEntry(database.dialect, accountId), accountId);
    if (next === undefined || next >= until || signal.aborted) return hours;
    if (!(await rollUpHour(database, accountId, next - (next % HOUR_MS), signal))) return hours;
    hours++;
  }
}

/** Finds the time of the first entry of an account that is not rolled up. */
function* nextEntry(dialect: Dialect, accountId: string): Operation<number | undefined> {
  return yield* firstEntry(dialect, accountId, yield* doneUntil(accountId));
}

/** Returns the hour before which all hours of an account are rolled up. */
export function* doneUntil(accountId: string): Operation<number> {
  const [row] = yield* rowsOf('SELECT done_until FROM messaging_usage_account WHERE account_id = ?', accountId);
  return row ? integerOf(row, 'done_until') : 0;
}

/**
 * Finds the time of an account's first entry from a moment on. The moment is a parameter and not a column of a join, because with
 * a column the database would sort all later entries.
 */
export function* firstEntry(dialect: Dialect, accountId: string, from: number): Operation<number | undefined> {
  const [row] = yield* rowsOf(
    `SELECT l.posted_at FROM messaging_ledger l${dialect.by('messaging_ledger_account')}
      WHERE l.account_id = ? AND l.posted_at >= ? ORDER BY l.posted_at LIMIT 1`,
    accountId,
    from,
  );
  return row && integerOf(row, 'posted_at');
}

/** Rolls up again those hours whose entries have changed since they were rolled up. */
async function verify(database: Database, { id, doneUntil }: DueAccount, order: RollUpOrder): Promise<number> {
  const { verifyFrom = doneUntil, signal } = order;
  let hours = 0;
  // The steps are short if a read blocks the event loop.
  const stepMs = database.dialect.blocksWhileReading ? HOUR_MS : DAY_MS;
  for (let from = verifyFrom; from < doneUntil; from += stepMs) {
    if (signal.aborted) return hours;
    const until = Math.min(from + stepMs, doneUntil);
    for (const hour of await database.browse(() => changedHours(database.dialect, id, from, until), id)) {
      if (await rollUpHour(database, id, hour, signal)) hours++;
    }
  }
  return hours;
}

/** Finds the hours of a range whose entries have changed since they were rolled up. */
export function* changedHours(
  dialect: Dialect,
  accountId: string,
  from: number,
  until: number,
): Operation<readonly number[]> {
  const entries = yield* rowsOf(
    `SELECT l.posted_at - l.posted_at % ${HOUR_MS} AS hour, count(*) AS entries, sum(l.units) AS units FROM messaging_ledger l${dialect.by('messaging_ledger_account')}
      WHERE l.account_id = ? AND l.posted_at >= ? AND l.posted_at < ? AND l.kind IN ('charge', 'refund')
      GROUP BY l.posted_at - l.posted_at % ${HOUR_MS}`,
    accountId,
    from,
    until,
  );
  const known = yield* rowsOf(
    'SELECT hour, entries, units FROM messaging_usage_hour WHERE account_id = ? AND hour >= ? AND hour < ?',
    accountId,
    from,
    until,
  );
  const rolledUp = new Map(known.map((row) => [integerOf(row, 'hour'), row]));
  return entries.flatMap((row) => {
    const hour = integerOf(row, 'hour');
    const before = rolledUp.get(hour);
    const isSame = before && ['entries', 'units'].every((name) => integerOf(before, name) === integerOf(row, name));
    return isSame ? [] : [hour];
  });
}

/** Rolls up one hour of an account. Returns false, and writes nothing, if entries came meanwhile. */
async function rollUpHour(database: Database, accountId: string, hour: number, signal: Cancellation): Promise<boolean> {
  const found = await attribute(database, accountId, hour, hour + HOUR_MS);
  if (signal.aborted) return false;
  return database.writeAside(() => storeHour(database.dialect, accountId, hour, found));
}

const USAGE: RowShape = {
  account_id: 'id',
  ...shapeOf('channel country signature key_id', 'hour place is_code charged refunded sends recipients'),
};

function* storeHour(
  dialect: Dialect,
  accountId: string,
  hour: number,
  { entries, units, parts }: Attributed,
): Operation<boolean> {
  yield* rowsOf(
    `SELECT u.done_until FROM messaging_usage_account u WHERE u.account_id = ?${dialect.lock('u', 'wait')}`,
    accountId,
  );
  // Entries are only added. So if there are still as many as were read, they are the same entries.
  const [now] = yield* rowsOf(
    `SELECT count(*) AS entries FROM messaging_ledger l${dialect.by('messaging_ledger_account')}
      WHERE l.account_id = ? AND l.posted_at >= ? AND l.posted_at < ? AND l.kind IN ('charge', 'refund')`,
    accountId,
    hour,
    hour + HOUR_MS,
  );
  if (!now || integerOf(now, 'entries') !== entries) return false;
  yield* write('DELETE FROM messaging_usage WHERE account_id = ? AND hour = ?', accountId, hour);
  if (parts.length > 0) {
    const rows = parts.map(
      ({ channel, country, signature, key, isCode, charged, refunded, sends, recipients }, place) => {
        const counts = [hour, place, isCode ? 1 : 0, charged, refunded, sends, recipients];
        return [accountId, channel, country, signature, key, ...counts];
      },
    );
    yield dialect.insertRows({ table: 'messaging_usage', shape: USAGE, rows });
  }
  yield* write('DELETE FROM messaging_usage_hour WHERE account_id = ? AND hour = ?', accountId, hour);
  if (entries > 0) {
    yield* write(
      'INSERT INTO messaging_usage_hour (account_id, hour, entries, units) VALUES (?, ?, ?, ?)',
      accountId,
      hour,
      entries,
      units,
    );
  }
  const done = hour + HOUR_MS;
  yield* write(
    'UPDATE messaging_usage_account SET done_until = ? WHERE account_id = ? AND done_until < ?',
    done,
    accountId,
    done,
  );
  return true;
}
