import type { Clock } from '../common/clock.js';
import type { OutgoingSms, SubmitResult } from './sms-transport.js';

/** How long results are gathered: so much knowledge a crash may cost, and so often a slow batch writes. */
const GATHER_MS = 1000;

/** What the transport made of SMS, by themselves. */
export type Results = ReadonlyMap<OutgoingSms, SubmitResult>;

/**
 * Results of SMS as they come. While others of the batch are still under way, what came is passed on once a second; where
 * that takes longer, as with a storage that is away, the next ones wait for it.
 */
export class EarlyResults {
  private readonly open: Set<OutgoingSms>;
  private fresh = new Map<OutgoingSms, SubmitResult>();
  /** What could not be passed on. */
  private readonly left = new Map<OutgoingSms, SubmitResult>();
  private passing: Promise<void> | undefined;
  private cancel: (() => void) | undefined;

  /** @param pass where it fails, its results are among those of the end */
  constructor(
    batch: readonly OutgoingSms[],
    private readonly clock: Clock,
    private readonly pass: (results: Results) => Promise<void>,
  ) {
    this.open = new Set(batch);
  }

  /** The first result of an SMS counts. */
  take(sms: OutgoingSms, result: SubmitResult): void {
    if (!this.open.delete(sms)) return;
    this.fresh.set(sms, result);
    this.passSoon();
  }

  /** Nothing is taken any more. Answers what is not passed on, once all else is. */
  async end(): Promise<Results> {
    this.open.clear();
    const { passing } = this;
    await passing;
    this.cancel?.();
    return new Map([...this.left, ...this.fresh]);
  }

  private passSoon(): void {
    if (this.passing === undefined) this.cancel ??= this.clock.after(GATHER_MS, () => this.passOn());
  }

  private passOn(): void {
    this.cancel = undefined;
    const { fresh } = this;
    this.fresh = new Map();
    this.passing = this.passed(fresh);
  }

  private async passed(results: Results): Promise<void> {
    try {
      await this.pass(results);
    } catch {
      for (const [sms, result] of results) this.left.set(sms, result);
    }
    this.passing = undefined;
    if (this.fresh.size > 0) this.passSoon();
  }
}
