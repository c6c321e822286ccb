import type { DeliveryStatus } from '../../events/delivery-status.js';
import type { Dialect } from '../../storage/dialect.js';
import { type Operation, type Row, rowsOf } from '../../storage/engine/operation.js';
import { integerOf, optionalInteger, type RowShape, textOf } from '../../storage/engine/rows.js';

/** The states in which a recipient has a `due_at`. */
export type QueueStatus = Extract<DeliveryStatus, 'queued' | 'sending' | 'sent'>;

/**
 * A queue of a channel: recipients with the same status, priority and `queue` (see this column), in the order of
 * `due_at`.
 */
export interface Queue {
  readonly status: QueueStatus;
  /** As `rankOf`. */
  readonly priority: number;
  readonly name: string;
}

/** A place to search for queues with due rows: one queue from a time on, or all queues between two names. */
export interface Place {
  readonly status: QueueStatus;
  readonly priority: number;
  /** The name of the one queue, or the first name. */
  readonly from: string;
  /** The name before which the place ends; undefined: only the queue `from`. */
  readonly below?: string;
  /** For one queue: only rows with this `due_at` or a later one. */
  readonly floor?: number;
}

/** A queue with its first `due_at`; undefined if nothing is due up to the given time. */
export interface FoundQueue extends Queue {
  readonly due: number | undefined;
}

/** Greater than all names of queues. */
export const END = '\u{10ffff}';

/** The smallest string that is greater than a name. Names contain no control characters. */
export function after(name: string): string {
  return `${name}\u0001`;
}

/**
 * Searches places for queues that have rows, and for the first `due_at` of each up to a given time. Each queue is found
 * by a seek to the first name after the previous queue, so its rows are not read.
 *
 * @param most the most queues of a place between two names
 * @returns the queues of each place, in the order of their names
 */
export function* findQueues(
  dialect: Dialect,
  channel: string,
  places: readonly Place[],
  until: number,
  most: number,
): Operation<readonly (readonly FoundQueue[])[]> {
  const rowsFor = (ofOne: boolean) =>
    places.flatMap(({ status, priority, from, below, floor = 0 }, n) =>
      (below === undefined) === ofOne
        ? [[channel, status, from, ...(below === undefined ? [floor] : [below, most]), n, priority, until]]
        : [],
    );
  const [ones, gaps] = [rowsFor(true), rowsFor(false)];
  const queries = [
    ...(ones.length > 0 ? [dialect.ofEach(firstOf(dialect), ONE, ones)] : []),
    ...(gaps.length > 0 ? [dialect.ofEach(groupsOfQueues(dialect), QUEUES_BETWEEN, gaps)] : []),
  ];
  const found: FoundQueue[][] = places.map(({ status, priority, from, below }) =>
    below === undefined ? [{ status, priority, name: from, due: undefined }] : [],
  );
  if (queries.length === 0) return found;
  const sql = queries.map((query) => query.sql).join(' UNION ALL ');
  for (const row of yield* rowsOf(sql, ...queries.flatMap(({ params }) => params))) {
    const n = integerOf(row, 'n');
    const place = places[n];
    if (!place) continue;
    const { status, priority } = place;
    const queue = { status, priority, name: textOf(row, 'queue'), due: optionalInteger(row, 'due_at') };
    if (place.below === undefined) found[n] = [queue];
    else found[n]?.push(queue);
  }
  return found;
}

const IN_LINE = 'r.channel = v.channel AND r.status = v.status AND r.priority = v.priority';

const ONE: RowShape = {
  channel: 'id',
  status: 'id',
  queue: 'id',
  floor: 'integer',
  n: 'integer',
  priority: 'integer',
  until: 'integer',
};

function firstOf(dialect: Dialect): string {
  return `SELECT v.n AS n, r.queue, r.due_at FROM messaging_recipient r${dialect.by('messaging_recipient_queue')}
    WHERE ${IN_LINE} AND r.queue = v.queue AND r.due_at >= v.floor AND r.due_at <= v.until ORDER BY r.due_at LIMIT 1`;
}

/** The places that `groupsOfQueues` searches. */
export const QUEUES_BETWEEN: RowShape = {
  channel: 'id',
  status: 'id',
  first: 'id',
  below: 'id',
  most: 'integer',
  n: 'integer',
  priority: 'integer',
  until: 'integer',
};

/** A query for the queues in places `v` of `QUEUES_BETWEEN`, with the first `due_at` of each. */
export function groupsOfQueues(dialect: Dialect): string {
  return dialect.groups({
    columns: 'v.n AS n',
    table: 'messaging_recipient',
    index: 'messaging_recipient_queue',
    equal: ['channel', 'status', 'priority'],
    where: IN_LINE,
    group: 'queue',
    value: 'due_at',
    until: 'v.until',
  });
}

/** The first rows of a queue. */
export interface QueueRange extends Queue {
  /** Rows with this `due_at` or a later one. */
  readonly floor: number;
  /** The maximum number of rows. */
  readonly take: number;
}

/**
 * Locks the first due rows of queues. Rows that another transaction has locked are skipped.
 * @param except accounts whose rows are left out of the queue that accounts share. The caller does not ask for their
 * own queues
 */
export function* lockQueues(
  dialect: Dialect,
  channel: string,
  ranges: readonly QueueRange[],
  until: number,
  lane: 'any' | 'none',
  except: readonly string[] = [],
): Operation<readonly Row[]> {
  const shared = ranges.filter(({ name }) => name === '');
  if (except.length > 0 && shared.length > 0) {
    const own = ranges.filter(({ name }) => name !== '');
    const locked = yield* lockRanges(dialect, channel, own, until, lane, []);
    return [...locked, ...(yield* lockRanges(dialect, channel, shared, until, lane, except))];
  }
  return yield* lockRanges(dialect, channel, ranges, until, lane, []);
}

/**
 * The condition that a row's account is among `v.except`, which has ids with spaces around each. No id contains a
 * space.
 */
const EXCEPTED = `EXISTS (SELECT 1 FROM messaging_message m
  WHERE m.id = r.message_id AND length(replace(v.except, concat(' ', m.account_id, ' '), '')) < length(v.except))`;

function* lockRanges(
  dialect: Dialect,
  channel: string,
  ranges: readonly QueueRange[],
  until: number,
  lane: 'any' | 'none',
  except: readonly string[],
): Operation<readonly Row[]> {
  const ids = except.map((id) => ` ${id} `).join('');
  const statements = dialect.lockRanges({
    columns: `r.message_id, r.position, r.priority, r.number, r.attempt, r.status, r.doubtful, r.due_at, r.vars, r.units, r.tries, r.queue${dialect.place}`,
    table: 'messaging_recipient',
    index: 'messaging_recipient_queue',
    where: `${IN_LINE} AND r.queue = v.queue AND r.due_at >= v.floor AND r.due_at <= v.until${lane === 'none' ? ' AND r.lane IS NULL' : ''}${ids === '' ? '' : ` AND NOT ${EXCEPTED}`}`,
    order: 'r.due_at',
    shape: ids === '' ? RANGE : { ...RANGE, except: 'id' },
    ranges: ranges.map(({ status, priority, name, floor, take }) => {
      return [channel, status, name, priority, floor, until, take, ...(ids === '' ? [] : [ids])];
    }),
  });
  const rows: Row[] = [];
  for (const statement of statements) rows.push(...(yield statement).rows);
  return rows;
}

const RANGE: RowShape = {
  channel: 'id',
  status: 'id',
  queue: 'id',
  priority: 'integer',
  floor: 'integer',
  until: 'integer',
  take: 'integer',
};

/** Identifies a queue of a channel. */
export function queueKey({ status, priority, name }: Queue): string {
  return `${status} ${priority} ${name}`;
}
