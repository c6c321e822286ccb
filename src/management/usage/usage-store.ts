import { DAY_MS, HOUR_MS } from '../../common/time.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, shapeOf, textOf } from '../../storage/engine/rows.js';
import { addTo, attribute, type UsagePart } from './attribution.js';
import { changedHours, doneUntil, firstEntry, rollUpAccounts } from './roll-up.js';
import { UsageGroup } from './usage.api.js';
import { CodeCount, RolledUp, RollUpOrder, UsageQuery, UsageRow } from './usage-records.js';

/** For how long after an hour a late commit counts at once, in milliseconds. */
const LIVE_MS = 6 * HOUR_MS;

/**
 * Reads the usage of accounts: from a summary by hour, which is rolled up from the ledger, and from the ledger itself for hours
 * that are not rolled up yet. Accepting and settling messages do not write to the summary. Every method throws
 * `StorageUnavailableError` if the database does not answer.
 */
export class UsageStore {
  constructor(private readonly database: Database) {}

  /**
   * Sums up the usage of an account. Every entry of the ledger counts that was committed before the call. There is one exception:
   * an entry that was committed more than six hours after its hour counts from the next comparison on.
   * @throws the signal's reason
   */
  async usage(query: UsageQuery): Promise<readonly UsageRow[]> {
    const { accountId, since, until, groupBy, onlyCodes = false, most = Number.MAX_SAFE_INTEGER, now, signal } = query;
    const done = await this.database.read(() => doneUntil(accountId));
    const rolledUp = Math.min(until, Math.max(since, done));
    const recent = Math.min(rolledUp, Math.max(since, now - LIVE_MS - (now % HOUR_MS)));
    // This is read before the summary, so that a change in between can only make the summary newer.
    const changed = await this.changedHours(accountId, recent, rolledUp);
    const groups = new Groups(groupBy);
    const summary = { accountId, since, until: rolledUp, groupBy, onlyCodes, most };
    const rows = await this.database.browse(() => readSummary(summary, changed), accountId);
    for (const row of rows) groups.add(toRow(row, groupBy));
    const addLive = async (from: number, to: number): Promise<void> => {
      const { parts } = await attribute(this.database, accountId, from, to, signal);
      for (const part of parts) if (part.isCode || !onlyCodes) groups.add(rowOf(part, from - (from % DAY_MS), groupBy));
    };
    for (const hour of changed) {
      if (groups.size > most) return groups.rows();
      await addLive(hour, hour + HOUR_MS);
    }
    // This reads day by day, so that each entry counts for its day. It jumps from entry to entry, because there may be long gaps.
    for (let from = rolledUp; from < until && groups.size <= most; ) {
      const at = from;
      const next = await this.database.browse(() => firstEntry(this.database.dialect, accountId, at), accountId);
      if (next === undefined || next >= until) break;
      from = Math.min(next - (next % DAY_MS) + DAY_MS, until);
      await addLive(next, from);
    }
    return groups.rows();
  }

  private async changedHours(accountId: string, since: number, until: number): Promise<readonly number[]> {
    const { dialect } = this.database;
    // The steps are short if a read blocks the event loop.
    const stepMs = dialect.blocksWhileReading ? HOUR_MS : DAY_MS;
    const changed: number[] = [];
    for (let from = since; from < until; from += stepMs) {
      const end = Math.min(from + stepMs, until);
      changed.push(...(await this.database.browse(() => changedHours(dialect, accountId, from, end), accountId)));
    }
    return changed;
  }

  /**
   * Rolls up those hours of some accounts that are over, and rolls up again hours whose entries in the ledger have changed. It
   * leaves out accounts on which another process works. It may be repeated, and may be interrupted at any time.
   */
  rollUp(order: RollUpOrder): Promise<RolledUp> {
    return rollUpAccounts(this.database, order);
  }

  /** Adds to the counts of codes. */
  async countCodes(counts: readonly CodeCount[]): Promise<void> {
    if (counts.length === 0) return;
    const { dialect } = this.database;
    // The rows are sorted, so that two transactions with the same rows cannot deadlock.
    const rows = counts.map(({ accountId, what, name, day }) => [accountId, what, name, day, 0]).sort();
    const added = counts.map(({ accountId, what, name, day, count }) => [accountId, what, name, day, count]).sort();
    await this.database.writeAside(function* () {
      yield dialect.insertRows({
        table: 'messaging_code_count',
        shape: COUNT,
        rows,
        onDuplicate: ['account_id, day, what, name'],
      });
      yield dialect.updateRows({
        table: 'messaging_code_count',
        shape: COUNT,
        rows: added,
        set: { count: 'messaging_code_count.count + v.count' },
        on: ['account_id', 'day', 'what', 'name']
          .map((name) => `messaging_code_count.${name} = v.${name}`)
          .join(' AND '),
      });
    });
  }

  /** Returns the counts of codes from a day on and before another day, by name. */
  async codes(
    accountId: string,
    since: number,
    until: number,
  ): Promise<readonly Omit<CodeCount, 'accountId' | 'day'>[]> {
    const sql = `SELECT what, name, sum(count) AS count FROM messaging_code_count
      WHERE account_id = ? AND day >= ? AND day < ? GROUP BY what, name ORDER BY what, name`;
    const rows = await this.database.browse(() => rowsOf(sql, accountId, since, until), accountId);
    return rows.map((row) => ({
      what: textOf(row, 'what') === 'verified' ? 'verified' : 'refused',
      name: textOf(row, 'name'),
      count: integerOf(row, 'count'),
    }));
  }
}

const COUNT = shapeOf('account_id what name', 'day count');

/** The SQL expression of each group. */
const COLUMN: Readonly<Record<UsageGroup, string>> = {
  day: `u.hour - u.hour % ${DAY_MS}`,
  channel: 'u.channel',
  country: 'u.country',
  signature: 'u.signature',
  key: 'u.key_id',
};

const AMOUNTS = ['charged', 'refunded', 'sends', 'recipients'] as const;

function readSummary(
  {
    accountId,
    since,
    until,
    groupBy,
    onlyCodes,
    most,
  }: Pick<UsageQuery, 'accountId' | 'since' | 'until' | 'groupBy' | 'onlyCodes'> & { readonly most: number },
  without: readonly number[],
): Operation<readonly Row[]> {
  const groups = groupBy.map((group) => `${COLUMN[group]} AS ${NAME[group]}`);
  const sums = AMOUNTS.map((name) => `coalesce(sum(u.${name}), 0) AS ${name}`);
  const others = without.length > 0 ? ` AND u.hour NOT IN (${without.map(() => '?').join(', ')})` : '';
  return rowsOf(
    `SELECT ${[...groups, ...sums].join(', ')} FROM messaging_usage u
      WHERE u.account_id = ? AND u.hour >= ? AND u.hour < ?${others}${onlyCodes ? ' AND u.is_code = 1' : ''}
      ${groupBy.length > 0 ? `GROUP BY ${groupBy.map((group) => COLUMN[group]).join(', ')}` : ''} LIMIT ?`,
    accountId,
    since,
    until,
    ...without,
    Math.min(most, Number.MAX_SAFE_INTEGER - 1) + 1,
  );
}

/** The names of the columns. None of them is a keyword of SQL. */
const NAME: Readonly<Record<UsageGroup, string>> = {
  day: 'used_on',
  channel: 'used_channel',
  country: 'used_country',
  signature: 'used_signature',
  key: 'used_key',
};

function toRow(row: Row, groupBy: readonly UsageGroup[]): UsageRow {
  const groups = groupBy.map((group) => [group, group === 'day' ? integerOf(row, NAME.day) : textOf(row, NAME[group])]);
  const [charged, refunded] = [integerOf(row, 'charged'), integerOf(row, 'refunded')];
  const amounts = { charged, refunded, sends: integerOf(row, 'sends'), recipients: integerOf(row, 'recipients') };
  return { ...Object.fromEntries(groups), ...amounts };
}

function rowOf(part: UsagePart, day: number, groupBy: readonly UsageGroup[]): UsageRow {
  const { charged, refunded, sends, recipients } = part;
  const groups = groupBy.map((group) => [group, group === 'day' ? day : part[group]]);
  return { ...Object.fromEntries(groups), charged, refunded, sends, recipients };
}

/** Adds up rows of the same groups. */
class Groups {
  private readonly byGroup = new Map<string, { -readonly [K in keyof UsageRow]: UsageRow[K] }>();

  constructor(private readonly groupBy: readonly UsageGroup[]) {}

  add(row: UsageRow): void {
    const name = this.groupBy.map((group) => row[group]).join('\n');
    const sum = this.byGroup.get(name);
    if (sum) addTo(sum, row);
    else this.byGroup.set(name, { ...row });
  }

  get size(): number {
    return this.byGroup.size;
  }

  rows(): readonly UsageRow[] {
    return [...this.byGroup.values()];
  }
}
