import { PRIORITIES, type Priority } from './priority.api.js';
import { rankOf } from './priority.js';
import { PriorityTurns } from './priority-turns.js';
import { after, END, type Place, type Queue, type QueueStatus, queueKey } from './queues.js';

/** The longest time between two searches without floors, in milliseconds. */
const LOOK_MS = 30_000;

/**
 * How far a floor stays below the present time, in milliseconds. A send is committed some time after its own `at`, up
 * to 5 s if it waits for a lock, and the clocks of processes differ.
 */
const SLACK_MS = 5000;

/** As `SLACK_MS`, for leases. A lease is stored long before it ends, so this only covers the difference of clocks. */
const LEASE_SLACK_MS = 500;

/**
 * How long searches may begin where the last one has stopped, in milliseconds. After this time a search begins at the
 * floor again, so a delivery that another process has stored late below that place waits no longer than this.
 */
const LATE_MS = 250;

/** The maximum number of queues of one status and priority that are remembered. */
const MAX_QUEUES = 250;

/**
 * The result of a search: the first `due_at` that may be left in each queue; undefined if nothing is due up to the time
 * of the search.
 */
export type Floors = Map<Queue, number | undefined>;

/** A remembered queue. */
interface Seen {
  readonly name: string;
  /** As far as is known, no waiting row of the queue has an earlier `due_at`. */
  floor: number;
  /**
   * The first `due_at` that the last search has left; undefined: none. A row with an earlier one was stored after
   * `lookedAt`.
   */
  next: number | undefined;
  /** When a search last began at the floor. */
  lookedAt: number;
  /** A counter value from the last time that the queue was seen, to find the queue that was not seen for longest. */
  seenAt: number;
}

/** A row that was stored in a queue, perhaps below its floor. */
interface Stored {
  readonly status: QueueStatus;
  readonly name: string;
  /** Undefined: it may have any priority. */
  readonly priority?: Priority | undefined;
  readonly due: number;
}

/**
 * Remembers the state of a channel's queues between two claims: which queue has the next turn, and for each queue a
 * `due_at` below which nothing waits (its floor). With the floor, a search does not walk over the index entries of rows
 * that have left the queue. Databases keep these entries for as long as the snapshot of another connection may need
 * them. The memory is bounded. Claims find every row without it too, and if it is wrong, they find every row after at
 * most `LOOK_MS`.
 */
export class QueueMemory {
  turns = new PriorityTurns();
  private readonly lines = new Map<string, Seen[]>();
  private readonly last = new Map<Priority, Queue>();
  /** The first `due_at` of queues whose rows are not due yet. */
  private readonly ahead = new Map<string, number>();
  private lookedAt = Number.NEGATIVE_INFINITY;
  private now = Number.NEGATIVE_INFINITY;
  private count = 0;
  /** The number of claims in progress. They may not have seen the rows in `stored`, which were stored meanwhile. */
  private claims = 0;
  private stored: Stored[] = [];

  /** @param hasFloors whether floors are kept; see `Dialect.searchesFromFloors` */
  constructor(private readonly hasFloors: boolean) {}

  /**
   * Must be called when a claim or an expiry begins. Forgets all floors every `LOOK_MS`, and after the clock was set.
   */
  begin(now: number): void {
    this.claims++;
    this.now = now;
    if (Math.abs(now - this.lookedAt) < LOOK_MS) return;
    this.lookedAt = now;
    this.ahead.clear();
    for (const line of this.lines.values()) for (const seen of line) Object.assign(seen, { floor: 0, next: undefined });
  }

  /**
   * Must be called when a claim or an expiry has ended.
   * @param now the time at which it began
   * @param floors what it has found; nothing if it has failed
   */
  end(now: number, floors: Floors = new Map()): void {
    this.claims--;
    if (this.hasFloors) for (const [queue, due] of floors) this.rise(queue, due, now);
    for (const stored of this.stored) this.lower(stored);
    if (this.claims === 0) this.stored = [];
  }

  /** Must be called when this process has stored a row in a queue. */
  put(stored: Stored): void {
    if (!this.hasFloors) return;
    this.lower(stored);
    if (this.claims > 0) this.stored.push(stored);
  }

  /** Remembers the queue that was served last in a priority. */
  served(priority: Priority, queue: Queue): void {
    this.last.set(priority, queue);
  }

  /**
   * All places of a priority, in the order of their turns. The places after the queue that was served last come first.
   */
  places(priority: Priority, abandoned: boolean): readonly Place[] {
    const last = this.last.get(priority);
    const queued = this.placesOf('queued', priority, last?.status === 'queued' ? last.name : '');
    if (!abandoned) return queued;
    const sending = this.placesOf('sending', priority);
    return last?.status === 'sending' ? [...queued, ...sending] : [...sending, ...queued];
  }

  /**
   * The places of a status and priority: each remembered queue from its floor on, and the gaps between these queues.
   */
  placesOf(status: QueueStatus, priority: Priority, last = ''): readonly Place[] {
    const rank = rankOf(priority);
    const line = this.lines.get(lineOf(status, rank)) ?? [];
    // The leases of all accounts are in one queue, and the deadlines of all accounts are in another one.
    if (status !== 'queued') return [{ status, priority: rank, from: '', floor: this.floorOf(line[0] ?? NEVER_SEEN) }];
    const before: Place[] = [];
    const behind: Place[] = [];
    // Without floors there is only one gap with all names. It is divided after the queue that was served last.
    if (!this.hasFloors) {
      if (last !== '') before.push({ status, priority: rank, from: '', below: after(last) });
      return [{ status, priority: rank, from: last === '' ? '' : after(last), below: END }, ...before];
    }
    const own = line[0]?.name === '' ? line : [NEVER_SEEN, ...line];
    for (const [index, seen] of own.entries()) {
      const { name } = seen;
      (compare(name, last) > 0 ? behind : before).push({
        status,
        priority: rank,
        from: name,
        floor: this.floorOf(seen),
      });
      const [from, below, cut] = [after(name), own[index + 1]?.name ?? END, after(last)];
      const isCut = compare(from, cut) < 0 && compare(cut, below) < 0;
      if (isCut) before.push({ status, priority: rank, from, below: cut });
      (compare(below, cut) > 0 ? behind : before).push({ status, priority: rank, from: isCut ? cut : from, below });
    }
    return [...behind, ...before];
  }

  /** The places of leases and of report deadlines, each from its first known `due_at` on. */
  placesAhead(status: 'sending' | 'sent', priority: Priority): readonly Place[] {
    return this.placesOf(status, priority).map((place) => {
      const first = place.below === undefined ? this.ahead.get(queueKey({ ...place, name: place.from })) : undefined;
      return first === undefined ? place : { ...place, floor: first };
    });
  }

  /** Remembers the first `due_at` that was found in {@link placesAhead}; undefined: none. */
  foundAhead(queue: Queue, due: number | undefined): void {
    if (!this.hasFloors || queue.status === 'queued' || this.ahead.size >= MAX_QUEUES) return;
    this.ahead.set(queueKey(queue), due ?? Number.MAX_SAFE_INTEGER);
  }

  private floorOf(seen: Seen): number {
    return goesOn(seen, this.now) ? seen.next : seen.floor;
  }

  private lower({ status, name, priority, due }: Stored): void {
    for (const each of priority ? [priority] : PRIORITIES) {
      const rank = rankOf(each);
      const seen = this.find(this.lines.get(lineOf(status, rank)) ?? [], name).seen;
      if (seen) {
        seen.floor = Math.min(seen.floor, due);
        if (seen.next !== undefined) seen.next = Math.min(seen.next, due);
      }
      const key = queueKey({ status, priority: rank, name });
      if ((this.ahead.get(key) ?? due) > due) this.ahead.set(key, due);
    }
  }

  private rise({ status, priority, name }: Queue, next: number | undefined, now: number): void {
    const key = lineOf(status, priority);
    const line = this.lines.get(key) ?? [];
    this.lines.set(key, line);
    const { place, seen } = this.find(line, name);
    const seenAt = ++this.count;
    const lookedAt = seen && goesOn(seen, now) ? seen.lookedAt : now;
    const floor = Math.min(next ?? now, lookedAt - (status === 'sending' ? LEASE_SLACK_MS : SLACK_MS));
    if (seen) Object.assign(seen, { floor, next, lookedAt, seenAt });
    else line.splice(place, 0, { name, floor, next, lookedAt, seenAt });
    if (line.length > MAX_QUEUES) line.splice(line.indexOf(line.reduce(older)), 1);
  }

  /** Finds the index of a name in a line, or the index at which it belongs. */
  private find(line: readonly Seen[], name: string): { place: number; seen: Seen | undefined } {
    let [from, to] = [0, line.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compare(line[middle]?.name ?? '', name) < 0) from = middle + 1;
      else to = middle;
    }
    const seen = line[from];
    return { place: from, seen: seen?.name === name ? seen : undefined };
  }
}

const NEVER_SEEN: Seen = { name: '', floor: 0, next: undefined, lookedAt: 0, seenAt: 0 };

/** Whether a search may begin where the last one has stopped. */
function goesOn(seen: Seen, now: number): seen is Seen & { readonly next: number } {
  return seen.next !== undefined && Math.abs(now - seen.lookedAt) < LATE_MS;
}

function older(a: Seen, b: Seen): Seen {
  return a.seenAt <= b.seenAt ? a : b;
}

function lineOf(status: QueueStatus, priority: number): string {
  return queueKey({ status, priority, name: '' });
}

/** Compares ids as the databases do, by the bytes of UTF-8. Beyond U+FFFF the order of JavaScript is another one. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
