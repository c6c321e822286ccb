import { PRIORITIES, type Priority } from './priority.api.js';
import { rankOf } from './priority.js';
import { PriorityTurns } from './priority-turns.js';
import { after, END, type Place, type Queue, type QueueStatus, queueKey } from './queues.js';

/** A search without floors at least so often, in milliseconds. */
const LOOK_MS = 30_000;

/**
 * How far below the present a floor stays, in milliseconds: a send is committed some time after the time that it is stored
 * with, 5 s later where it waits for a lock, and the clocks of processes differ.
 */
const SLACK_MS = 5000;

/** The same for leases, in milliseconds: one is stored long before it ends, so that only clocks differ. */
const LEASE_SLACK_MS = 500;

/**
 * How long a search may go on where the last one has stopped, in milliseconds, before it looks at the slack again: what another
 * process has stored there late waits no longer.
 */
const LATE_MS = 250;

/** The most queues of one status and priority that are remembered. */
const MAX_QUEUES = 250;

/** What a search has found: the first `due_at` that may be left in each queue; undefined: nothing until the search. */
export type Floors = Map<Queue, number | undefined>;

/** A queue that was seen. */
interface Seen {
  readonly name: string;
  /** Nothing waits in it that is due before, as far as is known. */
  floor: number;
  /** The first `due_at` that the last search has left; undefined: nothing. What is below it was stored since `lookedAt`. */
  next: number | undefined;
  /** When a search last began at the floor. */
  lookedAt: number;
  /** Counts upwards: when it was last seen. */
  seenAt: number;
}

/** Something that was stored in a queue, perhaps below its floor. */
interface Stored {
  readonly status: QueueStatus;
  readonly name: string;
  /** Undefined: any. */
  readonly priority?: Priority | undefined;
  readonly due: number;
}

/**
 * What a store remembers of the queues of a channel between its claims: whose turn it is, and for each queue a `due_at` below
 * which nothing waits (its floor), so that a search does not walk over the index entries of rows that have left the queue.
 * Databases keep these for as long as another session's snapshot may need them. The memory is bounded; without it, and with
 * a wrong one for `LOOK_MS` at most, every row is found.
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
  /** Claims under way, and what was stored meanwhile: they may not have seen it. */
  private claims = 0;
  private stored: Stored[] = [];

  /** @param hasFloors whether floors are kept: false where an index has no dead entries */
  constructor(private readonly hasFloors: boolean) {}

  /** A claim or expiry begins. Forgets the floors each `LOOK_MS`, and when the clock was set. */
  begin(now: number): void {
    this.claims++;
    this.now = now;
    if (Math.abs(now - this.lookedAt) < LOOK_MS) return;
    this.lookedAt = now;
    this.ahead.clear();
    for (const line of this.lines.values()) for (const seen of line) Object.assign(seen, { floor: 0, next: undefined });
  }

  /** One that began at `now` has ended, with what it has found; with nothing, where it has failed. */
  end(now: number, floors: Floors = new Map()): void {
    this.claims--;
    if (this.hasFloors) for (const [queue, due] of floors) this.rise(queue, due, now);
    for (const stored of this.stored) this.lower(stored);
    if (this.claims === 0) this.stored = [];
  }

  /** A row was stored in an account's queue by this process. */
  put(stored: Stored): void {
    if (!this.hasFloors) return;
    this.lower(stored);
    if (this.claims > 0) this.stored.push(stored);
  }

  /** The queue that was served last in a priority. */
  served(priority: Priority, queue: Queue): void {
    this.last.set(priority, queue);
  }

  /** All places of a priority, in the order in which it is their turn: first those behind the queue that was served last. */
  places(priority: Priority, abandoned: boolean): readonly Place[] {
    const last = this.last.get(priority);
    const queued = this.placesOf('queued', priority, last?.status === 'queued' ? last.name : '');
    if (!abandoned) return queued;
    const sending = this.placesOf('sending', priority);
    return last?.status === 'sending' ? [...queued, ...sending] : [...sending, ...queued];
  }

  /** The places of a status and priority: each remembered queue from its floor on, and what is between them. */
  placesOf(status: QueueStatus, priority: Priority, last = ''): readonly Place[] {
    const rank = rankOf(priority);
    const line = this.lines.get(lineOf(status, rank)) ?? [];
    // The leases of all accounts are in one queue, and so are the deadlines.
    if (status !== 'queued') return [{ status, priority: rank, from: '', floor: this.floorOf(line[0] ?? NEVER_SEEN) }];
    const before: Place[] = [];
    const behind: Place[] = [];
    // Without floors there are only gaps: all names, cut behind the last one.
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

  /** The places of leases and of report deadlines, from the first one on that was seen. */
  placesAhead(status: 'sending' | 'sent', priority: Priority): readonly Place[] {
    return this.placesOf(status, priority).map((place) => {
      const first = place.below === undefined ? this.ahead.get(queueKey({ ...place, name: place.from })) : undefined;
      return first === undefined ? place : { ...place, floor: first };
    });
  }

  /** The first `due_at` that was found in {@link placesAhead}; undefined: none. */
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

  /** Where a name is in a line, or where it belongs. */
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

/** As the databases compare ids: by the bytes of UTF-8, which is not the order of JavaScript beyond U+FFFF. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
