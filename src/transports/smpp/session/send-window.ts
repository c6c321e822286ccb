import type { Clock } from '../../../common/clock.js';
import type { ShortMessage } from '../pdu/pdu.js';
import { Fifo } from './fifo.js';
import { LateAnswers } from './late-answers.js';
import type { SequenceNumbers } from './sequence-numbers.js';
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
