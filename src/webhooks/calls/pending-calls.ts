import type { Endpoint } from '../endpoints/endpoint.js';
import type { CallProgress, PendingCall } from './call-records.js';
import type { CallStore } from './call-store.js';

/** How many pending calls are loaded at a time, besides those that are running. It is more than a batch has events. */
const PAGE = 200;

/** The widest range of sequence numbers in a batch that is made of single pending calls. */
const RANGE = 1000;

/** The pending calls of one endpoint. It knows which calls are due, and when the next one will be. */
export class PendingCalls {
  private loaded: (readonly PendingCall[])[] = [];
  /** Sequence numbers whose calls are running or not yet stored. */
  private readonly busy = new Set<number>();
  /** When to load pending calls again, in milliseconds since the epoch. Undefined: no call is pending. */
  private loadAt: number | undefined = 0;
  private isFirst = false;

  constructor(private readonly store: CallStore) {}

  /** When the next call is due, in milliseconds since the epoch. 0: it must look. Undefined: no call is pending. */
  get dueAt(): number | undefined {
    return this.loaded.length > 0 ? 0 : this.loadAt;
  }

  /** Whether a call is pending that no other call may overtake. It is known after `next`. */
  get blocks(): boolean {
    return this.isFirst;
  }

  /** Whether `next` may find a call now. */
  mayBeDue(now: number): boolean {
    const { dueAt } = this;
    return dueAt !== undefined && dueAt <= now;
  }

  /** Notes that another process may have added calls, or that the endpoint takes other batches now. */
  look(): void {
    this.loaded = [];
    this.loadAt = 0;
  }

  /** Returns the next due calls, which are made as one call. `next` does not return them again before `stored`. */
  async next(endpoint: Endpoint, now: number): Promise<readonly PendingCall[] | undefined> {
    if (this.loaded.length === 0 && this.loadAt !== undefined && this.loadAt <= now) await this.load(endpoint, now);
    const calls = this.loaded.shift();
    for (const { sequence } of calls ?? []) this.busy.add(sequence);
    return calls;
  }

  /** Takes back calls that `next` returned and that were not made. */
  giveBack(calls: readonly PendingCall[]): void {
    for (const { sequence } of calls) this.busy.delete(sequence);
    this.look();
  }

  /** Notes that the results of calls are stored. */
  stored({ done, failed }: CallProgress): void {
    for (const sequence of done) this.busy.delete(sequence);
    for (const { sequence, dueAt } of failed) {
      this.busy.delete(sequence);
      if (dueAt !== undefined) this.loadAt = Math.min(this.loadAt ?? dueAt, dueAt);
    }
  }

  private async load(endpoint: Endpoint, now: number): Promise<void> {
    const isStrict = endpoint.ordering === 'strict';
    const limit = this.busy.size + PAGE;
    this.loadAt = undefined;
    try {
      const rows = await this.store.pending(endpoint.id, isStrict ? 'number' : 'time', limit);
      const calls = rows.filter(({ sequence }) => !this.busy.has(sequence));
      this.isFirst = isStrict && rows.length > 0;
      if (isStrict) this.takeFirst(endpoint, calls, now);
      else this.takeDue(endpoint, calls, rows.length === limit, now);
    } catch (error) {
      this.loadAt = 0;
      throw error;
    }
  }

  private takeFirst(endpoint: Endpoint, calls: readonly PendingCall[], now: number): void {
    const [first] = grouped(endpoint, calls);
    const dueAt = first?.[0]?.dueAt;
    if (first && dueAt !== undefined && dueAt <= now) this.loaded = [first];
    else if (dueAt !== undefined) this.loadAtLatest(dueAt);
  }

  private takeDue(endpoint: Endpoint, calls: readonly PendingCall[], isFull: boolean, now: number): void {
    const groups = grouped(
      endpoint,
      calls.filter(({ dueAt }) => dueAt <= now),
    );
    const next = calls.find(({ dueAt }) => dueAt > now)?.dueAt;
    // The last batch may be incomplete, so it waits for the next look.
    if (isFull && next === undefined && groups.length > 1) groups.pop();
    this.loaded = groups;
    const loadAt = isFull && next === undefined ? now : next;
    if (loadAt !== undefined) this.loadAtLatest(loadAt);
  }

  private loadAtLatest(at: number): void {
    this.loadAt = Math.min(this.loadAt ?? at, at);
  }
}

/** Groups pending calls into calls to make. A batch stays as it was. Single calls are joined if the endpoint takes batches. */
function grouped({ batch: { max } }: Endpoint, calls: readonly PendingCall[]): PendingCall[][] {
  const groups: PendingCall[][] = [];
  for (const call of calls) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (group && first && group.length < max && first.batch === call.batch && isNear(first, call)) group.push(call);
    else groups.push([call]);
  }
  return groups;
}

function isNear(first: PendingCall, call: PendingCall): boolean {
  return call.batch !== undefined || Math.abs(call.sequence - first.sequence) < RANGE;
}
