import type { Clock } from '../../common/clock.js';
import type { IdGenerator } from '../../common/ids.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import type { EventText, EventViews } from '../event-view.js';
import { CallCursor, type ProgressDraft } from './call-progress.js';
import type { CallProgress, PendingCall, Replay } from './call-records.js';
import type { CallStore } from './call-store.js';
import { EventReader, type ReadEvents } from './event-reader.js';
import { type CalledEvent, type Gap, gapEvent } from './http/call-request.js';
import { PendingCalls } from './pending-calls.js';
import { retryWait } from './retry-schedule.js';

/** A call to make. */
export interface Call {
  readonly events: readonly CalledEvent[];
  /** The sequence numbers of its events. */
  readonly sequences: readonly number[];
  /** The `webhook-id` of a batch. */
  readonly batch: string | undefined;
  /** Notes how it ended. */
  readonly ended: (ok: boolean) => void;
}

/** The services that the queue of an endpoint uses. */
export interface QueueContext {
  readonly views: EventViews;
  readonly store: CallStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** A part of the log that was removed before the endpoint received it. */
interface UnreportedGap extends Gap {
  /** The pending calls in this part. */
  readonly lost: readonly number[];
  readonly tries: number;
  readonly dueAt: number;
}

/** A window of the log whose events are being called again. */
interface RunningReplay {
  readonly replay: Replay;
  readonly reader: EventReader;
  readonly cursor: CallCursor;
}

const nothing = () => undefined;

/** After so many events of other types the cursor is stored, even if no call was made. */
const PASSED_OVER = 1000;

/**
 * Decides the next call of an endpoint: first a gap of the log, then pending calls that are due, then new events, then replays.
 * With `strict` order nothing overtakes a pending call.
 */
export class CallQueue {
  private readonly cursor: CallCursor;
  private readonly reader: EventReader;
  private readonly pending: PendingCalls;
  private storedPosition: number;
  private gap: UnreportedGap | undefined;
  private running: RunningReplay | undefined;
  private mayHaveReplay = true;
  /** The last gap that the endpoint was called with, or that was given up. */
  private reportedGap: Gap = { from: 0, to: -1 };
  /** The number of the commit that must be stored before the next call, because the commit has a call that is or was pending. */
  private awaited: number | undefined;

  constructor(
    private endpoint: Endpoint,
    private readonly draft: ProgressDraft,
    private readonly context: QueueContext,
  ) {
    this.cursor = new CallCursor(endpoint.cursor);
    this.storedPosition = endpoint.cursor;
    this.reader = new EventReader(context.views, endpoint.cursor);
    this.pending = new PendingCalls(context.store);
  }

  /** The sequence number up to which events were called or are pending. */
  get position(): number {
    return this.cursor.position;
  }

  /** Whether the cursor has passed events of other types since it was stored. */
  get isAhead(): boolean {
    return this.cursor.position > this.storedPosition;
  }

  /** Whether no call is left to make, now or later. */
  get isEmpty(): boolean {
    const { gap, running, mayHaveReplay, pending, reader } = this;
    return !gap && !running && !mayHaveReplay && pending.dueAt === undefined && reader.isDrained;
  }

  /**
   * Returns the milliseconds until `next` may have a further call. Undefined: only a notice or the end of a call gives it one.
   */
  waitMs(underWay: number): number | undefined {
    const { clock } = this.context;
    if (this.awaited !== undefined || (this.gap && underWay > 0)) return undefined;
    if (this.gap) return Math.max(0, this.gap.dueAt - clock.now());
    const waits = this.pending.dueAt === undefined ? [] : [this.pending.dueAt - clock.now()];
    const batch = this.reader.waitOf(this.endpoint, clock.elapsed());
    if (batch > 0) waits.push(batch);
    return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits));
  }

  redefine(endpoint: Endpoint): void {
    const changed = JSON.stringify(endpoint.types) !== JSON.stringify(this.endpoint.types);
    this.endpoint = endpoint;
    if (changed) this.reader.restart();
  }

  /** Notes that there may be new events. */
  look(): void {
    this.reader.look();
  }

  /** Notes that the endpoint's owner may have asked for calls. */
  lookAtPending(): void {
    this.pending.look();
    this.mayHaveReplay = true;
  }

  /** A call that can be made at once, with events that were already read. Undefined: ask `next`, which reads from the store. */
  get nextAtOnce(): Call | undefined {
    if (this.awaited !== undefined || this.gap || this.pending.mayBeDue(this.context.clock.now())) return undefined;
    return this.isStrict && this.pending.blocks ? undefined : this.nextRead();
  }

  /** @param underWay how many calls are running */
  async next(underWay: number): Promise<Call | undefined> {
    if (this.awaited !== undefined) return undefined;
    if (!this.gap) {
      const again = this.pending.mayBeDue(this.context.clock.now()) ? await this.nextPending() : undefined;
      if (again || this.awaited !== undefined || (this.isStrict && this.pending.blocks)) return again;
    }
    const call = this.gap ? undefined : (this.nextRead() ?? (await this.nextEvents()));
    if (this.gap) return this.nextGap(this.gap, underWay);
    return call ?? this.nextReplay();
  }

  /** Notes that the results of calls are stored. */
  stored(progress: CallProgress, commit: number): void {
    this.storedPosition = progress.cursor;
    this.pending.stored(progress);
    if (this.awaited !== undefined && commit >= this.awaited) {
      this.awaited = undefined;
      this.pending.look();
    }
    if (progress.replays.some(({ position, upTo }) => position >= upTo)) this.mayHaveReplay = true;
  }

  /** With `strict` order, the store must know the pending calls before the next call is made. */
  private awaitStore(): void {
    if (this.isStrict) this.awaited = this.draft.commit;
  }

  private get isStrict(): boolean {
    return this.endpoint.ordering === 'strict';
  }

  private nextGap(gap: UnreportedGap, underWay: number): Call | undefined {
    const { endpoint, context } = this;
    if (underWay > 0 || gap.dueAt > context.clock.now()) return undefined;
    const ended = (ok: boolean) => {
      const tries = gap.tries + 1;
      const wait = ok ? undefined : retryWait(tries, endpoint.ordering, context.ids.random());
      this.gap = wait === undefined ? undefined : { ...gap, tries, dueAt: context.clock.now() + wait };
      if (this.gap) return;
      if (gap.to > this.cursor.position) this.cursor.add(gap.to, 0);
      for (const sequence of gap.lost) this.draft.done(sequence);
      this.reportedGap = gap;
      this.awaitStore();
    };
    return { events: [gapEvent(endpoint, gap, context.clock.now())], sequences: [], batch: undefined, ended };
  }

  private async nextPending(): Promise<Call | undefined> {
    for (;;) {
      const calls = await this.pending.next(this.endpoint, this.context.clock.now());
      if (!calls) return undefined;
      const events = await this.eventsOf(calls).catch((error: unknown) => {
        this.pending.giveBack(calls);
        throw error;
      });
      if (events.length > 0) return this.pendingCall(calls, events);
      if (this.gap || this.awaited !== undefined) return undefined;
    }
  }

  private pendingCall(calls: readonly PendingCall[], events: readonly EventText[]): Call {
    const tries = new Map(calls.map((call) => [call.sequence, call.tries]));
    const sequences = events.map(({ sequence }) => sequence);
    const batch = this.batchOf(calls[0]?.batch);
    const ended = (ok: boolean) => {
      if (ok) for (const sequence of sequences) this.draft.done(sequence);
      else this.failed(sequences, batch, (sequence) => tries.get(sequence) ?? 0);
      this.draft.touch(sequences.length);
      this.awaitStore();
    };
    return { events, sequences, batch, ended };
  }

  /**
   * Reads the events of pending calls. An event that is no longer kept becomes part of a gap. An event of a type that the
   * endpoint no longer receives is left out.
   */
  private async eventsOf(calls: readonly PendingCall[]): Promise<readonly EventText[]> {
    const { accountId, types } = this.endpoint;
    const wanted = new Set(calls.map(({ sequence }) => sequence));
    const last = Math.max(...wanted);
    const events: EventText[] = [];
    let earliest = 0;
    for (let after = Math.min(...wanted) - 1; after < last; ) {
      const query = { accountId, after, upTo: last, types: types ?? undefined, limit: calls.length };
      const page = await this.context.views.texts(query);
      events.push(...page.events.filter(({ sequence }) => wanted.delete(sequence)));
      earliest = page.earliest;
      if (page.nextAfter <= after) break;
      after = page.nextAfter;
    }
    this.leaveOut([...wanted], earliest);
    return events;
  }

  /**
   * Drops pending calls whose events were not found. If an event is no longer kept, the endpoint gets a gap. If its type is no
   * longer wanted, it gets nothing.
   */
  private leaveOut(sequences: readonly number[], earliest: number): void {
    const { from, to } = this.reportedGap;
    const isLost = (sequence: number) => sequence < earliest && (sequence < from || sequence > to);
    const lost = sequences.filter(isLost);
    if (lost.length > 0) this.addGap({ from: Math.min(...lost), to: earliest - 1 }, lost);
    const others = sequences.filter((sequence) => !isLost(sequence));
    if (others.length === 0) return;
    for (const sequence of others) this.draft.done(sequence);
    this.draft.touch();
    this.awaitStore();
  }

  /** Makes a whole call of the events that were already read. */
  private nextRead(): Call | undefined {
    const read = this.reader.hasBatch(this.endpoint) ? this.reader.take(this.endpoint) : undefined;
    return read && this.firstCall(read, this.cursor, nothing);
  }

  private async nextEvents(): Promise<Call | undefined> {
    const { clock } = this.context;
    for (;;) {
      const gap = await this.reader.read(this.endpoint, clock.elapsed());
      if (gap) this.addGap(gap, []);
      if (gap || this.reader.waitOf(this.endpoint, clock.elapsed()) > 0) return undefined;
      const read = this.reader.take(this.endpoint);
      if (!read) return undefined;
      const call = this.firstCall(read, this.cursor, nothing);
      if (call) return call;
      if (this.cursor.position - this.storedPosition >= PASSED_OVER) this.draft.touch();
    }
  }

  private async nextReplay(): Promise<Call | undefined> {
    this.running ??= await this.findReplay();
    if (!this.running) return undefined;
    const { replay, reader, cursor } = this.running;
    const note = () => {
      this.draft.replayed({ id: replay.id, position: cursor.position, upTo: replay.upTo });
      if (cursor.position >= replay.upTo) this.running = undefined;
    };
    for (;;) {
      // Events that are no longer kept cannot be called again. That is no gap, because they were called before.
      const gap = await reader.read(this.endpoint, this.context.clock.elapsed());
      if (gap) cursor.add(Math.min(gap.to, replay.upTo), 0);
      const read = reader.take(this.endpoint);
      if (!read && !gap) return undefined;
      const { types } = replay;
      const events = read && types ? read.events.filter(({ type }) => types.includes(type)) : read?.events;
      const call = read && events && this.firstCall({ ...read, events }, cursor, note);
      if (call) return call;
      note();
      if (!this.running) return undefined;
    }
  }

  private async findReplay(): Promise<RunningReplay | undefined> {
    if (!this.mayHaveReplay) return undefined;
    this.mayHaveReplay = false;
    const { store, views } = this.context;
    const replay = await store.replay(this.endpoint.id).catch((error: unknown) => {
      this.mayHaveReplay = true;
      throw error;
    });
    if (!replay) return undefined;
    const reader = new EventReader(views, replay.position, replay.upTo);
    return { replay, reader, cursor: new CallCursor(replay.position) };
  }

  /** Makes a call of the events that were read from the log. Undefined if the endpoint wants none of them. */
  private firstCall({ events, upTo }: ReadEvents, cursor: CallCursor, moved: () => void): Call | undefined {
    const span = cursor.add(upTo, events.length);
    if (events.length === 0) return undefined;
    const sequences = events.map(({ sequence }) => sequence);
    const batch = this.batchOf(undefined);
    const ended = (ok: boolean) => {
      if (!ok) this.failed(sequences, batch, () => 0);
      if (!ok) this.awaitStore();
      this.draft.touch(cursor.settle(span));
      moved();
    };
    return { events, sequences, batch, ended };
  }

  /** Returns the id of a batch. Retries of the batch have the same id. */
  private batchOf(known: string | undefined): string | undefined {
    return this.endpoint.batch.max > 1 ? (known ?? `batch_${this.context.ids.next()}`) : undefined;
  }

  private failed(sequences: readonly number[], batch: string | undefined, triesOf: (sequence: number) => number): void {
    const { clock, ids } = this.context;
    // All calls of the batch get the same time for their retry, so that the batch stays together.
    const random = ids.random();
    for (const sequence of sequences) {
      const tries = triesOf(sequence) + 1;
      const wait = retryWait(tries, this.endpoint.ordering, random);
      this.draft.failed({ sequence, tries, dueAt: wait === undefined ? undefined : clock.now() + wait, batch });
    }
  }

  private addGap({ from, to }: Gap, lost: readonly number[]): void {
    const { gap } = this;
    this.gap = {
      from: Math.min(from, gap?.from ?? from),
      to: Math.max(to, gap?.to ?? to),
      lost: [...(gap?.lost ?? []), ...lost],
      tries: gap?.tries ?? 0,
      dueAt: gap?.dueAt ?? 0,
    };
  }
}
