import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import type { Cancellation } from '../../common/concurrency/async.js';
import { MessagingError } from '../../common/errors.js';
import { checkAccountId, checkInput, checkString } from '../../common/inputs.js';
import { momentOf } from '../../common/listing/list-query.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import { DAY_MS, HOUR_MS } from '../../common/time.js';
import { csvLine } from '../../http/csv.js';
import { USAGE_GROUPS, type UsageGroup, type UsageItemView, type UsageView } from './usage.api.js';
import type { UsageRow } from './usage-records.js';
import { UsageStore } from './usage-store.js';
import { amountsView, groupView } from './usage-view.js';

/** A period, and the groups of its sums. */
export interface UsagePeriod {
  /** From this hour on: ISO 8601, a day (UTC) or a time with its zone. Default: 29 days before today. */
  readonly since?: string | undefined;
  /** Before this hour. Default: the end of today (UTC). At most 400 days after `since`. */
  readonly until?: string | undefined;
  /** Any of `day`, `channel`, `country`, `signature` and `key`, separated by commas; '' for none. Default `day`. */
  readonly group_by?: string | undefined;
}

/** The longest period, and the default period, in milliseconds. */
const MAX_MS = 400 * DAY_MS;
const USUAL_MS = 29 * DAY_MS;

/** How many items an answer may have, and how many as CSV. There is a limit, because the answer is in memory until it is sent. */
export const MAX_ITEMS = 10_000;
export const MAX_LINES = 50_000;

const AMOUNTS = ['units', 'refunded_units', 'net_units', 'sends', 'recipients'] as const;

/**
 * Reads the usage of an account in a period: units, messages and recipients by day, channel, country, signature and key. The
 * units are exactly those of the ledger.
 *
 * @example
 * ```ts
 * const { items, total } = await usage.usage(accountId, { since: '2026-11-01', group_by: 'country,channel' });
 * ```
 */
@Injectable()
export class UsageService {
  constructor(
    private readonly store: UsageStore,
    private readonly clock: Clock,
  ) {}

  /**
   * @param signal ends the reading when it is aborted
   * @throws MessagingError `error.field_invalid`, also for `group_by` if there would be more than 10 000 items
   */
  async usage(accountId: string, period: UsagePeriod = {}, signal?: Cancellation): Promise<UsageView> {
    const { since, until, groupBy, rows } = await this.read(accountId, period, MAX_ITEMS, signal);
    return { since: isoOf(since), until: isoOf(until), items: itemsOf(rows, groupBy), total: amountsView(sumOf(rows)) };
  }

  /**
   * Returns the usage as lines of CSV, with a first line of column names and without the total.
   * @throws MessagingError the errors of `usage`, with a limit of 50 000 items
   */
  async csv(accountId: string, period: UsagePeriod = {}, signal?: Cancellation): Promise<readonly string[]> {
    const { groupBy, rows } = await this.read(accountId, period, MAX_LINES, signal);
    const columns = [...groupBy, ...AMOUNTS];
    const lines = itemsOf(rows, groupBy).map((item) => csvLine(columns.map((column) => item[column] ?? null)));
    return [csvLine(columns), ...lines];
  }

  private async read(accountId: string, period: UsagePeriod, most: number, signal: Cancellation | undefined) {
    checkAccountId(accountId);
    checkInput(period);
    const now = this.clock.now();
    const { since, until } = rangeOf(period, now);
    const groupBy = groupsOf(period.group_by);
    const rows = await this.store.usage({ accountId, since, until, groupBy, most, now, signal });
    if (rows.length > most) throw new MessagingError('error.field_invalid', { field: 'group_by' });
    return { since, until, groupBy, rows };
  }
}

/**
 * Returns the range of hours of a period.
 * @throws MessagingError `error.field_invalid`
 */
export function rangeOf({ since, until }: Pick<UsagePeriod, 'since' | 'until'>, now: number) {
  const end = hourOf('until', until) ?? now - (now % DAY_MS) + DAY_MS;
  const start = hourOf('since', since) ?? end - (end % DAY_MS || DAY_MS) - USUAL_MS;
  if (start > end) throw new MessagingError('error.field_invalid', { field: 'until' });
  if (end - start > MAX_MS) throw new MessagingError('error.field_invalid', { field: 'since' });
  return { since: start, until: end };
}

/** Reads a whole hour (UTC), because usage is kept by hours. */
function hourOf(field: 'since' | 'until', given: string | undefined): number | undefined {
  const moment = momentOf(field, given);
  if (moment !== undefined && (moment % HOUR_MS !== 0 || moment < 0))
    throw new MessagingError('error.field_invalid', { field });
  return moment;
}

function groupsOf(given: string = 'day'): readonly UsageGroup[] {
  checkString('group_by', given);
  const names = given === '' ? [] : given.split(',', USAGE_GROUPS.length + 1);
  const groups = names.flatMap((name) => USAGE_GROUPS.find((group) => group === name) ?? []);
  if (groups.length === names.length && new Set(groups).size === groups.length) return groups;
  throw new MessagingError('error.field_invalid', { field: 'group_by' });
}

/** Returns the items in the order of their groups. */
function itemsOf(rows: readonly UsageRow[], groupBy: readonly UsageGroup[]): readonly UsageItemView[] {
  if (groupBy.length === 0) return [];
  const keyed = rows.map((row) => {
    const values = groupBy.map((group) => groupView(row, group));
    // No value has a character below the blank.
    const key = values.map((value) => value ?? '').join('\u0000');
    return {
      key,
      item: { ...Object.fromEntries(groupBy.map((group, at) => [group, values[at]])), ...amountsView(row) },
    };
  });
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ item }) => item);
}

function sumOf(rows: readonly UsageRow[]) {
  const sum = { charged: 0, refunded: 0, sends: 0, recipients: 0 };
  for (const { charged, refunded, sends, recipients } of rows) {
    sum.charged += charged;
    sum.refunded += refunded;
    sum.sends += sends;
    sum.recipients += recipients;
  }
  return sum;
}
