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

/** A call that is to be made. */
export interface Call {
  readonly events: readonly CalledEvent[];
  /** The numbers of its events in the log. */
  readonly sequences: readonly number[];
  /** The `webhook-id` of a batch. */
  readonly batch: string | undefined;
  /** Notes how it ended. */
  readonly ended: (ok: boolean) => void;
}

/** What the queue of an endpoint works with. */
export interface QueueContext {
  readonly views: EventViews;
  readonly store: CallStore;
  readonly clock: Clock;
  readonly ids: IdGenerator;
}

/** A part of the log that was cut before the endpoint was told of it. */
interface UnreportedGap extends Gap {
  /** Pending calls in it. */
  readonly lost: readonly number[];
  readonly tries: number;
  readonly dueAt: number;
}

/** A window that is being called again. */
interface RunningReplay {
  readonly replay: Replay;
  readonly reader: EventReader;
  readonly cursor: CallCursor;
}

const nothing = () => undefined;

/** After so many numbers of other types the cursor is stored, though nothing was called. */
const PASSED_OVER = 1000;

/**
 * What an endpoint is called with next: a gap of the log before anything else, then pending calls that are due, then new events,
 * then replays. Under `strict` order nothing overtakes a pending call.
 */
export class CallQueue {
  private readonly cursor: CallCursor;
  private readonly reader: EventReader;
  private readonly pending: PendingCalls;
  private storedPosition: number;
  private gap: UnreportedGap | undefined;
  private running: RunningReplay | undefined;
  private mayHaveReplay = true;
  /** The last gap that was told, or given up. */
  private reportedGap: Gap = { from: 0, to: -1 };
  /** The commit that must be stored before the next call, because it has a call that is or was pending. */
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

  /** The number up to which events were called or are pending. */
  get position(): number {
    return this.cursor.position;
  }

  /** Whether the cursor has passed events of other types since it was stored. */
  get isAhead(): boolean {
    return this.cursor.position > this.storedPosition;
  }

  /** Whether nothing is left to be called, now or later. */
  get isEmpty(): boolean {
    const { gap, running, mayHaveReplay, pending, reader } = this;
    return !gap && !running && !mayHaveReplay && pending.dueAt === undefined && reader.isDrained;
  }

  /** Milliseconds until `next` has something that it has not now; undefined: only a notice or the end of a call changes that. */
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

  /** There may be new events. */
  look(): void {
    this.reader.look();
  }

  /** Its owner may have asked for calls. */
  lookAtPending(): void {
    this.pending.look();
    this.mayHaveReplay = true;
  }

  /** What has been read and can be called at once, without looking at the store; undefined: ask `next`. */
  get nextAtOnce(): Call | undefined {
    if (this.awaited !== undefined || this.gap || this.pending.mayBeDue(this.context.clock.now())) return undefined;
    return this.isStrict && this.pending.blocks ? undefined : this.nextRead();
  }

  /** @param underWay calls that have not ended */
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

  /** The ends of calls are stored. */
  stored(progress: CallProgress, commit: number): void {
    this.storedPosition = progress.cursor;
    this.pending.stored(progress);
    if (this.awaited !== undefined && commit >= this.awaited) {
      this.awaited = undefined;
      this.pending.look();
    }
    if (progress.replays.some(({ position, upTo }) => position >= upTo)) this.mayHaveReplay = true;
  }

  /** Under `strict` order the store has to know what is pending before the next call. */
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

  /** The events of pending calls. What is no longer kept becomes a gap; what the endpoint is no longer told of is left out. */
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

  /** Pending calls without an event: no longer kept, which the endpoint has to know, or no longer of its types. */
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

  /** A whole call with what has been read. */
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
      // What is no longer kept cannot be called again; it was called before.
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

  /** A call with what was read from the log; undefined where nothing of it is to be told. */
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

  /** The id of a batch, which its retries repeat. */
  private batchOf(known: string | undefined): string | undefined {
    return this.endpoint.batch.max > 1 ? (known ?? `batch_${this.context.ids.next()}`) : undefined;
  }

  private failed(sequences: readonly number[], batch: string | undefined, triesOf: (sequence: number) => number): void {
    const { clock, ids } = this.context;
    // One for all, so that a batch stays one.
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
