import type { Clock } from '../../common/clock.js';

/** The time limits of a connection, in milliseconds. */
interface MonitorLimits {
  /** Until the connection shows a code or opens. */
  readonly answerMs: number;
  /** Between two frames of the server. Keep-alives ask for frames more often. */
  readonly silenceMs: number;
}

/**
 * Detects dead connections for which no error is reported. Examples: the server does not answer, or the network has lost the
 * connection.
 */
export class ConnectionMonitor {
  private heardAt: number | undefined;
  private cancelAnswer: () => void = () => undefined;
  private cancelSilence: () => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly limits: MonitorLimits,
    private readonly overdue: (reason: 'no_answer' | 'silent') => void,
  ) {}

  /** Starts to wait for a code or the opening. */
  expectAnswer(): void {
    this.cancelAnswer();
    this.cancelAnswer = this.clock.after(this.limits.answerMs, () => this.overdue('no_answer'));
  }

  /** Records that the connection shows a code or is open. */
  answered(): void {
    this.cancelAnswer();
  }

  /** Records a frame of the server. */
  heard(): void {
    const first = this.heardAt === undefined;
    this.heardAt = this.clock.elapsed();
    if (first) this.listen(this.limits.silenceMs);
  }

  stop(): void {
    this.cancelAnswer();
    this.cancelSilence();
  }

  /** Uses one timer that checks the last frame, instead of a new timer per frame. */
  private listen(ms: number): void {
    this.cancelSilence = this.clock.after(ms, () => {
      const left = (this.heardAt ?? 0) + this.limits.silenceMs - this.clock.elapsed();
      if (left > 0) this.listen(left);
      else this.overdue('silent');
    });
  }
}
