import type { Clock } from '../common/clock.js';
import type { OutgoingSms, SubmitResult } from './sms-transport.js';

/** How long results are gathered: so much knowledge a crash may cost, and so often a slow batch writes. */
const GATHER_MS = 1000;

/** Results of SMS as they come. What came is passed on once a second while others of the batch are still under way. */
export class EarlyResults {
  private readonly open: Set<OutgoingSms>;
  private fresh = new Map<OutgoingSms, SubmitResult>();
  private readonly passing: Promise<void>[] = [];
  private cancel: (() => void) | undefined;

  /** @param pass where it fails, its results are among those of the end */
  constructor(
    batch: readonly OutgoingSms[],
    private readonly clock: Clock,
    private readonly pass: (results: ReadonlyMap<OutgoingSms, SubmitResult>) => Promise<void>,
  ) {
    this.open = new Set(batch);
  }

  /** The first result of an SMS counts. */
  take(sms: OutgoingSms, result: SubmitResult): void {
    if (!this.open.delete(sms)) return;
    this.fresh.set(sms, result);
    this.cancel ??= this.clock.after(GATHER_MS, () => this.passOn());
  }

  /** Nothing is taken any more. Answers what is not passed on, once all else is. */
  async end(): Promise<ReadonlyMap<OutgoingSms, SubmitResult>> {
    this.open.clear();
    this.cancel?.();
    await Promise.all(this.passing);
    return this.fresh;
  }

  private passOn(): void {
    this.cancel = undefined;
    const { fresh } = this;
    this.fresh = new Map();
    const taken = this.pass(fresh).catch(() => {
      for (const [sms, result] of fresh) this.fresh.set(sms, result);
    });
    this.passing.push(taken);
  }
}
