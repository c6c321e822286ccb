import type { Clock } from '../../common/clock.js';

/** How long a connection may take for what; milliseconds. */
export interface LinkPatience {
  /** Until it shows a code or opens. */
  readonly answerMs: number;
  /** Between two frames of the server; it is asked for one often enough. */
  readonly silenceMs: number;
}

/** Finds connections of which nobody says that they are dead: the server took them and says nothing, or the network lost them. */
export class ConnectionMonitor {
  private heardAt: number | undefined;
  private cancelAnswer: () => void = () => undefined;
  private cancelSilence: () => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly patience: LinkPatience,
    private readonly overdue: (reason: 'no_answer' | 'silent') => void,
  ) {}

  /** From now on something is to come. */
  expect(): void {
    this.cancelAnswer();
    this.cancelAnswer = this.clock.after(this.patience.answerMs, () => this.overdue('no_answer'));
  }

  /** It has come. */
  answered(): void {
    this.cancelAnswer();
  }

  /** The server sent something. */
  heard(): void {
    const first = this.heardAt === undefined;
    this.heardAt = this.clock.elapsed();
    if (first) this.listen(this.patience.silenceMs);
  }

  stop(): void {
    this.cancelAnswer();
    this.cancelSilence();
  }

  /** One timer that looks again, not a new one for each frame. */
  private listen(ms: number): void {
    this.cancelSilence = this.clock.after(ms, () => {
      const left = (this.heardAt ?? 0) + this.patience.silenceMs - this.clock.elapsed();
      if (left > 0) this.listen(left);
      else this.overdue('silent');
    });
  }
}
