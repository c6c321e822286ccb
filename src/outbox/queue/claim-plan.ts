import type { Row } from '../../storage/engine/operation.js';
import { integerOf, textOf } from '../../storage/engine/rows.js';
import type { ClaimOrder } from '../outbox-records.js';
import { PRIORITIES, type Priority } from './priority.api.js';
import type { Floors, QueueMemory } from './queue-memory.js';
import {
  after,
  type FoundQueue,
  type Place,
  type Queue,
  type QueueRange,
  type QueueStatus,
  queueKey,
} from './queues.js';

/**
 * The maximum number of places of a priority that one statement searches, and of queues that a search between two names
 * returns.
 */
const PLACES = 64;

/** The maximum number of searches for one claim. The next claim continues where this one has stopped. */
const SEARCHES = 16;

/** A queue with due rows, and the progress of a claim in it. */
interface OpenQueue extends Queue {
  readonly due: number;
  /** How many of its rows this claim has locked. */
  taken: number;
  /** The `due_at` of the last of these rows. */
  lastDue: number;
  /** False: nothing more is due in it, or others have locked it. */
  hasMore: boolean;
}

/** The queues of one priority. */
interface Line {
  readonly priority: Priority;
  /** The places that have not been searched yet, in the order of their turns. */
  places: readonly Place[];
  /** The queues with due rows, in the order of their turns. */
  readonly queues: OpenQueue[];
}

/**
 * Divides a claim between priorities, and the share of each priority equally between its accounts, which take turns.
 * Places that one does not need go to the others. The caller asks the plan where to search and which rows to lock, does
 * this, and passes the results back to the plan.
 */
export class ClaimPlan {
  private readonly turns;
  private readonly lines: readonly Line[];
  private readonly rows: Row[] = [];
  /** Whether the rows already are in the order of `byPriority`. */
  private isSorted = true;
  private readonly floors: Floors = new Map();
  private readonly served = new Map<Priority, Queue>();
  private searches = 0;
  private readonly except: ReadonlySet<string>;

  constructor(
    private readonly memory: QueueMemory,
    private readonly order: ClaimOrder,
  ) {
    this.turns = memory.turns.copy();
    this.except = new Set(order.except);
    const priorities = order.only ? [order.only] : PRIORITIES;
    this.lines = priorities.map((priority) => ({
      priority,
      places: memory
        .places(priority, order.abandoned)
        .filter(({ from, below }) => below !== undefined || !this.except.has(from)),
      queues: [],
    }));
  }

  /** The locked rows by priority, and within a priority the longest overdue first. */
  get claimed(): readonly Row[] {
    return this.isSorted ? this.rows : this.rows.toSorted(byPriority);
  }

  /**
   * The places to search next, before rows are locked. A priority is searched until one of its queues has more rows.
   * Empty when no further search is needed.
   */
  nextPlaces(): readonly Place[] {
    if (this.free === 0 || this.searches === SEARCHES) return [];
    const places = this.lines.filter(hasNoQueue).flatMap((line) => line.places.slice(0, PLACES));
    if (places.length > 0) this.searches++;
    return places;
  }

  /** The maximum number of queues that a search returns for one place. */
  get most(): number {
    // Many of these queues may belong to excepted accounts.
    return this.except.size > 0 ? PLACES : Math.min(Math.max(this.order.limit, 8), PLACES);
  }

  /** Receives the queues that were found in `nextPlaces`. */
  found(results: readonly (readonly FoundQueue[])[]): void {
    let at = 0;
    for (const line of this.lines.filter(hasNoQueue)) {
      const searched = line.places.slice(0, PLACES);
      const part = results.slice(at, at + searched.length);
      at += searched.length;
      line.places = this.addTo(line, searched, part).concat(line.places.slice(PLACES));
    }
  }

  /** The rows to lock next. Empty if the batch is full or nothing more is due. */
  nextRanges(): readonly QueueRange[] {
    if (this.free === 0) return [];
    const waiting = this.lines.filter((line) => !hasNoQueue(line));
    const shares = this.turns.divide(this.free, new Set(waiting.map(({ priority }) => priority)));
    return waiting.flatMap((line) => this.shareOut(line, shares.get(line.priority) ?? 0));
  }

  /**
   * Receives the rows of `nextRanges` that were locked. They include the rows of the same queues that were locked
   * before.
   */
  locked(ranges: readonly QueueRange[], rows: readonly Row[]): void {
    const rowsOf = new Map<string, Row[]>(ranges.map((range) => [queueKey(range), []]));
    const only = ranges.length === 1 ? rows : undefined;
    if (!only) for (const row of rows) rowsOf.get(keyOfQueue(row))?.push(row);
    const asked = new Map(ranges.map((range) => [queueKey(range), range.take]));
    for (const queue of this.lines.flatMap(({ queues }) => queues)) {
      const key = queueKey(queue);
      const take = asked.get(key);
      if (take !== undefined) this.take(queue, take, only ?? rowsOf.get(key) ?? []);
    }
  }

  /** Passes the state of the queues to the memory, for the next claim. Call it after the commit. */
  remember(): Floors {
    this.memory.turns = this.turns;
    for (const line of this.lines) {
      const queue = this.served.get(line.priority);
      if (queue) this.memory.served(line.priority, queue);
      for (const each of line.queues) {
        // The queue that accounts share may still have rows of paused accounts, so its floor is not known.
        if (each.name === '' && this.except.size > 0) continue;
        const first = each.taken > 0 ? each.lastDue : each.due;
        this.floors.set(each, each.hasMore ? first : undefined);
      }
    }
    return this.floors;
  }

  private get free(): number {
    return this.order.limit - this.rows.length;
  }

  /** Adds the first rows of a queue to the batch, except those that it already has. */
  private take(queue: OpenQueue, asked: number, rows: readonly Row[]): void {
    const own = queue.taken === 0 ? undefined : new Set(this.rows.map(keyOf));
    const more = (own ? rows.filter((row) => !own.has(keyOf(row))) : rows).slice(0, this.free);
    const last = more.at(-1);
    if (last) queue.lastDue = Math.max(queue.lastDue, integerOf(last, 'due_at'));
    queue.taken += more.length;
    queue.hasMore = more.length > 0 && rows.length >= asked;
    this.isSorted &&= this.rows.length === 0;
    this.rows.push(...more);
  }

  /**
   * Adds the found queues to a line, up to the first place that may have more queues. Returns the places that have
   * still to be searched.
   */
  private addTo(line: Line, searched: readonly Place[], found: readonly (readonly FoundQueue[])[]): readonly Place[] {
    for (const [index, place] of searched.entries()) {
      const queues = found[index] ?? [];
      for (const queue of queues) {
        const { due } = queue;
        if (this.except.has(queue.name)) continue;
        if (due === undefined) this.floors.set(queue, due);
        else line.queues.push({ ...queue, due, taken: 0, lastDue: 0, hasMore: true });
      }
      const last = queues.at(-1);
      if (place.below === undefined || queues.length < this.most || !last) continue;
      // The accounts after the last found one have the next turn, and then those of the following places.
      this.served.set(line.priority, last);
      return [{ ...place, from: after(last.name) }, ...searched.slice(index + 1)];
    }
    return [];
  }

  /** Divides places equally between the queues of a line. The first queues get the remainder. */
  private shareOut(line: Line, places: number): readonly QueueRange[] {
    const open = line.queues.filter(({ hasMore }) => hasMore);
    const [each, more] = [Math.floor(places / open.length), places % open.length];
    const ranges = open.flatMap((queue, index) => {
      const extra = each + (index < more ? 1 : 0);
      return extra === 0 ? [] : [{ ...queue, floor: queue.due, take: queue.taken + extra }];
    });
    const last = open[more - 1];
    if (last) this.served.set(line.priority, last);
    return ranges;
  }
}

/** Orders rows by priority, and within a priority the longest overdue first. */
export function byPriority(a: Row, b: Row): number {
  const difference = (column: string) => integerOf(a, column) - integerOf(b, column);
  return difference('priority') || difference('due_at');
}

function hasNoQueue({ queues }: Line): boolean {
  return queues.every(({ hasMore }) => !hasMore);
}

function keyOf(row: Row): string {
  return `${integerOf(row, 'position')} ${textOf(row, 'message_id')}`;
}

function keyOfQueue(row: Row): string {
  // Only rows of these states have a `due_at`.
  const status = textOf(row, 'status') as QueueStatus;
  return queueKey({ status, priority: integerOf(row, 'priority'), name: textOf(row, 'queue') });
}
