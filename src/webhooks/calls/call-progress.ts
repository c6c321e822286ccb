import type { FaultReason } from '../../events/events.api.js';
import type { CallAnswer, CallProgress, EndpointLease, FailedCall, RecordedCall } from './call-records.js';
import { CallRuns } from './call-runs.js';

/** A range of a log's events, and whether its call has ended. */
interface Span {
  readonly upTo: number;
  readonly events: number;
  isSettled: boolean;
}

/** How far a log was called. Calls end in any order, so the position stops before the first call that is still running. */
export class CallCursor {
  private readonly spans: Span[] = [];

  /** @param position the sequence number up to which all calls have ended */
  constructor(public position: number) {}

  /** Adds the next part of the log: a call, or numbers that need no call. */
  add(upTo: number, events: number): Span {
    const span: Span = { upTo, events, isSettled: events === 0 };
    this.spans.push(span);
    if (events === 0) this.move();
    return span;
  }

  /** Notes that a call has ended. Returns how many events the position has passed by that. */
  settle(span: Span): number {
    span.isSettled = true;
    return this.move();
  }

  private move(): number {
    let passed = 0;
    for (let first = this.spans[0]; first?.isSettled; first = this.spans[0]) {
      this.spans.shift();
      this.position = first.upTo;
      passed += first.events;
    }
    return passed;
  }
}

export type { Span };

/** The changes by calls since the last commit. */
export class ProgressDraft {
  private readonly records = new CallRuns();
  /** The results of pending calls. If a call has several, the last one counts. */
  private pending = new Map<number, FailedCall | undefined>();
  private replays = new Map<string, { readonly id: string; readonly position: number; readonly upTo: number }>();
  private disabled: CallProgress['disabled'];
  /** Events whose calls have ended since the last commit, so that they are not called again after it. */
  private settled = 0;
  private changed = false;
  private takes = 0;

  /** Counts the commits that have taken changes. A change that is added now is in the commit with this number. */
  get commit(): number {
    return this.takes;
  }

  get isEmpty(): boolean {
    return !this.changed;
  }

  /** Notes that the cursor has moved or that a time has changed. */
  touch(settled = 0): void {
    this.settled += settled;
    this.changed = true;
  }

  record(answer: CallAnswer, call: RecordedCall, newId: () => string): void {
    this.records.add(answer, call, newId);
    this.changed = true;
  }

  /** Notes that a pending call has ended for good. */
  done(sequence: number): void {
    this.pending.set(sequence, undefined);
  }

  failed(call: FailedCall): void {
    this.pending.set(call.sequence, call);
  }

  replayed(replay: { readonly id: string; readonly position: number; readonly upTo: number }): void {
    this.replays.set(replay.id, replay);
    this.changed = true;
  }

  disable(reason: FaultReason, at: number): void {
    this.disabled ??= { reason, at };
    this.changed = true;
  }

  /** Takes all changes for a commit. After that, the draft is empty. */
  take(
    lease: EndpointLease,
    state: Pick<CallProgress, 'cursor' | 'failingSince' | 'restsUntil'>,
  ): { readonly progress: CallProgress; readonly settled: number; readonly commit: number } {
    const entries = [...this.pending];
    const progress: CallProgress = {
      ...state,
      lease,
      done: entries.flatMap(([sequence, failed]) => (failed ? [] : [sequence])),
      failed: entries.flatMap(([, failed]) => failed ?? []),
      records: this.records.take(),
      replays: [...this.replays.values()],
      disabled: this.disabled,
    };
    const { settled } = this;
    const commit = this.takes++;
    this.pending = new Map();
    this.replays = new Map();
    this.disabled = undefined;
    this.settled = 0;
    this.changed = false;
    return { progress, settled, commit };
  }
}
