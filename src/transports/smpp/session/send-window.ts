import type { Clock } from '../../../common/clock.js';
import type { ShortMessage } from '../pdu/pdu.js';
import type { SessionLiveness } from './session-liveness.js';
import type { SmppSessionSettings } from './session-settings.js';
import type { SessionWire } from './session-wire.js';
import type { SubmitAnswer, SubmitOutcome } from './submit-outcome.js';

/** How many submits nobody answered in time are remembered, in case the answer comes after all. */
const MOST_LATE = 1000;

type Settle = (outcome: SubmitOutcome) => void;

interface Waiting {
  readonly message: ShortMessage;
  readonly settle: Settle;
}

interface Written {
  readonly settle: Settle;
  /** Where on the wire it begins. */
  readonly position: number;
  readonly cancelTimer: () => void;
}

/** The submits of one session: so many written and unanswered at a time, the others in line, each settled exactly once. */
export class SendWindow {
  private readonly pending = new Map<number, Written>();
  private readonly waiting = new Fifo<Waiting>();
  private readonly late = new LateAnswers(MOST_LATE);
  /** Why nothing is taken any more. */
  private stopped: string | undefined;

  constructor(
    private readonly settings: Pick<SmppSessionSettings, 'window' | 'responseTimeoutMs'>,
    private readonly clock: Clock,
    private readonly wire: SessionWire,
    private readonly sequences: SequenceNumbers,
    private readonly liveness: SessionLiveness,
    /** Called when the last written submit is settled. */
    private readonly idle: () => void,
  ) {}

  get outstanding(): number {
    return this.pending.size;
  }

  get inLine(): number {
    return this.waiting.length;
  }

  submit(message: ShortMessage): Promise<SubmitOutcome> {
    return new Promise((settle) => {
      this.waiting.push({ message, settle });
      if (this.stopped === undefined) this.admit();
      else this.stop(this.stopped);
    });
  }

  /** Writes as many of those in line as may be. */
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

  /** @returns false when no submit of this number waits for an answer */
  answer(sequence: number, answer: SubmitAnswer): boolean {
    const written = this.forget(sequence);
    if (written === undefined) return this.late.settle(sequence, answer);
    written.settle({ kind: 'answered', ...answer });
    this.afterOne();
    return true;
  }

  /** Takes no more and sends those in line back; what is written may still be answered. */
  stop(reason: string): void {
    this.stopped ??= reason;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      next.settle({ kind: 'not-sent', reason });
    }
  }

  /** No answer will come any more. */
  end(reason: string): void {
    this.stop(reason);
    for (const [sequence, { settle, position }] of this.pending) {
      this.forget(sequence);
      if (this.wire.hasLeft(position)) settle({ kind: 'unknown', reason, late: Promise.resolve(undefined) });
      else settle({ kind: 'not-sent', reason });
    }
    this.late.end();
  }

  /** A peer that does not read, or may not be there, gets nothing more. */
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
    const ask = this.liveness.watch();
    const cancelTimer = this.clock.after(this.settings.responseTimeoutMs, () => this.giveUp(sequence, ask));
    this.pending.set(sequence, { settle, position, cancelTimer });
  }

  private giveUp(sequence: number, ask: () => void): void {
    const written = this.forget(sequence);
    if (written === undefined) return;
    const late = this.late.expect(sequence);
    written.settle({ kind: 'unknown', reason: 'the SMSC did not answer in time', late });
    ask();
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

const WORTH_SHORTENING = 1024;

/** First in, first out, both in constant time. */
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
    if (this.head >= WORTH_SHORTENING && this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}

type SettleLate = (answer: SubmitAnswer | undefined) => void;

/** Submits that were given up on and may be answered after all: the last so many of them. */
export class LateAnswers {
  private readonly expected = new Map<number, SettleLate>();

  /** @param most how many are kept at a time; the oldest goes first */
  constructor(private readonly most: number) {}

  has(sequence: number): boolean {
    return this.expected.has(sequence);
  }

  expect(sequence: number): Promise<SubmitAnswer | undefined> {
    return new Promise((settle) => {
      this.expected.set(sequence, settle);
      const [oldest] = this.expected.keys();
      if (this.expected.size > this.most && oldest !== undefined) this.settle(oldest, undefined);
    });
  }

  /** @returns false when nobody waits for it */
  settle(sequence: number, answer: SubmitAnswer | undefined): boolean {
    const settle = this.expected.get(sequence);
    if (settle === undefined) return false;
    this.expected.delete(sequence);
    settle(answer);
    return true;
  }

  /** None will come any more. */
  end(): void {
    for (const settle of this.expected.values()) settle(undefined);
    this.expected.clear();
  }
}

const LAST = 0x7fffffff;

/** The numbers of our requests: 1, 2, …, 0x7FFFFFFF and round again (SMPP 3.4, section 3.2). */
export class SequenceNumbers {
  /** @param last the number given out before the first; 0..0x7FFFFFFF */
  constructor(private last = 0) {}

  /** The next number that is not taken by a request that may still be answered. */
  next(isTaken: (sequence: number) => boolean): number {
    do {
      this.last = this.last === LAST ? 1 : this.last + 1;
    } while (isTaken(this.last));
    return this.last;
  }
}
