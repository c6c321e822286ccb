import type { Clock } from '../../../common/clock.js';
import type { ShortMessage } from '../pdu/pdu.js';
import type { BindLiveness } from './bind-liveness.js';
import type { SmppBindSettings } from './bind-settings.js';
import type { BindWire } from './bind-wire.js';
import type { SubmitAnswer, SubmitOutcome } from './submit-outcome.js';

/** How many timed-out submits are remembered in case a late answer arrives. */
const MAX_LATE = 1000;

type Settle = (outcome: SubmitOutcome) => void;

interface Waiting {
  readonly message: ShortMessage;
  readonly settle: Settle;
}

interface Written {
  readonly settle: Settle;
  /** The offset on the wire of its first octet. */
  readonly position: number;
  readonly cancelTimer: () => void;
}

/**
 * The submits of one connection. At most `window` submits are written and unanswered. The others are queued. Each submit is
 * settled exactly once.
 */
export class SendWindow {
  private readonly pending = new Map<number, Written>();
  private readonly waiting = new Fifo<Waiting>();
  private readonly late = new LateAnswers(MAX_LATE);
  /** Why no further submits are accepted. */
  private stopped: string | undefined;

  constructor(
    private readonly settings: Pick<SmppBindSettings, 'window' | 'responseTimeoutMs'>,
    private readonly clock: Clock,
    private readonly wire: BindWire,
    private readonly sequences: SequenceNumbers,
    private readonly liveness: BindLiveness,
    /** Called when no written submit is unanswered. */
    private readonly idle: () => void,
  ) {}

  get outstanding(): number {
    return this.pending.size;
  }

  get queued(): number {
    return this.waiting.length;
  }

  submit(message: ShortMessage): Promise<SubmitOutcome> {
    return new Promise((settle) => {
      this.waiting.push({ message, settle });
      if (this.stopped === undefined) this.admit();
      else this.stop(this.stopped);
    });
  }

  /** Writes queued submits until the window is full. */
  admit(): void {
    while (this.pending.size < this.settings.window && !this.held) {
      const next = this.waiting.shift();
      if (next === undefined) return;
      this.write(next);
    }
  }

  isTaken(sequence: number): boolean {
    return this.pending.has(sequence) || this.late.has(sequence);
  }

  /** Settles a submit. Returns false if no submit with this sequence number waits for an answer. */
  answer(sequence: number, answer: SubmitAnswer): boolean {
    const written = this.forget(sequence);
    if (written === undefined) return this.late.settle(sequence, answer);
    written.settle({ kind: 'answered', ...answer });
    this.afterOne();
    return true;
  }

  /** Accepts no further submits and settles the queued ones as `not-sent`. Written submits may still be answered. */
  stop(reason: string): void {
    this.stopped ??= reason;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      next.settle({ kind: 'not-sent', reason });
    }
  }

  /** Settles all submits, because no further answer can arrive. */
  end(reason: string): void {
    this.stop(reason);
    for (const [sequence, { settle, position }] of this.pending) {
      this.forget(sequence);
      if (this.wire.hasLeft(position)) settle({ kind: 'unknown', reason, late: Promise.resolve(undefined) });
      else settle({ kind: 'not-sent', reason });
    }
    this.late.end();
  }

  /** Whether writing is held back: after a stop, and while the peer does not read or may be gone. */
  private get held(): boolean {
    return this.stopped !== undefined || this.wire.blocked || this.liveness.inDoubt;
  }

  private write({ message, settle }: Waiting): void {
    const { position } = this.wire;
    const sequence = this.sequences.next((number) => this.isTaken(number));
    try {
      this.wire.submit(sequence, message);
    } catch (error) {
      settle({ kind: 'unsendable', reason: error instanceof Error ? error.message : 'it cannot be encoded' });
      return;
    }
    const probe = this.liveness.expectTraffic();
    const cancelTimer = this.clock.after(this.settings.responseTimeoutMs, () => this.timeOut(sequence, probe));
    this.pending.set(sequence, { settle, position, cancelTimer });
  }

  private timeOut(sequence: number, probe: () => void): void {
    const written = this.forget(sequence);
    if (written === undefined) return;
    const late = this.late.expect(sequence);
    written.settle({ kind: 'unknown', reason: 'the SMSC did not answer in time', late });
    probe();
    this.afterOne();
  }

  private forget(sequence: number): Written | undefined {
    const written = this.pending.get(sequence);
    if (written === undefined) return undefined;
    this.pending.delete(sequence);
    written.cancelTimer();
    return written;
  }

  private afterOne(): void {
    this.admit();
    if (this.pending.size === 0) this.idle();
  }
}

/** The number of removed items from which on the array is compacted. */
const COMPACT_AFTER = 1024;

/** A queue with `push` and `shift` in constant time. */
class Fifo<T extends object> {
  private items: (T | undefined)[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  push(item: T): void {
    this.items.push(item);
  }

  shift(): T | undefined {
    const item = this.items[this.head];
    if (item === undefined) return undefined;
    this.items[this.head++] = undefined;
    if (this.head >= COMPACT_AFTER && this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}

type SettleLate = (answer: SubmitAnswer | undefined) => void;

/** The most recent submits that timed out and may still be answered. */
export class LateAnswers {
  private readonly expected = new Map<number, SettleLate>();

  /** @param max the maximum number of submits. Above it the oldest is dropped */
  constructor(private readonly max: number) {}

  has(sequence: number): boolean {
    return this.expected.has(sequence);
  }

  expect(sequence: number): Promise<SubmitAnswer | undefined> {
    return new Promise((settle) => {
      this.expected.set(sequence, settle);
      const [oldest] = this.expected.keys();
      if (this.expected.size > this.max && oldest !== undefined) this.settle(oldest, undefined);
    });
  }

  /** Settles a submit. Returns false if its sequence number is not expected. */
  settle(sequence: number, answer: SubmitAnswer | undefined): boolean {
    const settle = this.expected.get(sequence);
    if (settle === undefined) return false;
    this.expected.delete(sequence);
    settle(answer);
    return true;
  }

  /** Settles all submits without an answer. */
  end(): void {
    for (const settle of this.expected.values()) settle(undefined);
    this.expected.clear();
  }
}

const MAX_SEQUENCE = 0x7fffffff;

/** The sequence numbers of our requests: 1 to 0x7FFFFFFF, then from 1 again (SMPP 3.4 section 3.2). */
export class SequenceNumbers {
  /** @param last the number before the first one, 0 to 0x7FFFFFFF */
  constructor(private last = 0) {}

  /** Returns the next number that no open request has. */
  next(isTaken: (sequence: number) => boolean): number {
    do {
      this.last = this.last === MAX_SEQUENCE ? 1 : this.last + 1;
    } while (isTaken(this.last));
    return this.last;
  }
}
