import type { Clock } from '../../common/clock.js';
import { STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { type FaultLog, faultLog } from '../../common/log.js';
import { MINUTE_MS } from '../../common/time.js';
import type {
  AdmittedNumbers,
  RecipientQuota,
  RouteRecipientStore,
} from '../../sms/route-recipients/route-recipient-store.js';
import type { OutgoingSms, SubmitResult } from '../../sms/sms-transport.js';

/** How long an SMS waits, at least and at most, before the limit is asked again. It is short, so that a raised limit takes effect. */
const AGAIN_MS = [10 * MINUTE_MS, 20 * MINUTE_MS] as const;

/** The SMS of a batch that a route may take, and the results of the others. */
interface LimitedBatch {
  readonly taken: readonly OutgoingSms[];
  readonly left: ReadonlyMap<OutgoingSms, SubmitResult>;
}

/** The limit of a SIM card: how many different numbers a route may send to within some days, over all processes. */
export class RecipientLimit {
  private readonly log: FaultLog;

  /** @param random returns a number in [0, 1), so that waiting SMS do not come back together */
  constructor(
    private readonly quota: RecipientQuota,
    private readonly store: RouteRecipientStore,
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {
    this.log = faultLog(`SmsRoute ${quota.route}`, clock);
  }

  /** Splits a batch by the limit, without reserving anything, so that SMS over the limit take none of the route's time. */
  sort(batch: readonly OutgoingSms[]): Promise<LimitedBatch> {
    return this.split(batch, (numbers, now) => this.store.admissible(this.quota, numbers, now));
  }

  /** Splits a batch by the limit, and reserves a place for each new number that the route takes. */
  reserve(batch: readonly OutgoingSms[]): Promise<LimitedBatch> {
    return this.split(batch, (numbers, now) => this.store.reserve(this.quota, numbers, now));
  }

  private async split(
    batch: readonly OutgoingSms[],
    ask: (numbers: readonly string[], now: number) => Promise<AdmittedNumbers>,
  ): Promise<LimitedBatch> {
    const now = this.clock.now();
    try {
      const { admitted, freeAt = now } = await ask(
        batch.map(({ number }) => number),
        now,
      );
      const left = batch.filter(({ number }) => !admitted.has(number));
      if (left.length > 0) {
        const { route } = this.quota;
        this.log.warn('It has reached its limit of different recipients.', { code: 'recipient_limit', route });
      }
      return { taken: batch.filter(({ number }) => admitted.has(number)), left: this.waiting(left, freeAt, now) };
    } catch {
      const until = now + STORAGE_RETRY_MS;
      return {
        taken: [],
        left: new Map(batch.map((sms) => [sms, { kind: 'postponed', error: 'storage_away', until }])),
      };
    }
  }

  /** The route takes these SMS later, so they may go to the next route. */
  private waiting(left: readonly OutgoingSms[], freeAt: number, now: number): ReadonlyMap<OutgoingSms, SubmitResult> {
    const [least, most] = AGAIN_MS;
    const until = Math.min(freeAt, now + Math.round(least + (most - least) * this.random()));
    return new Map(left.map((sms) => [sms, { kind: 'postponed', error: 'recipient_limit', until, away: true }]));
  }
}
