import { Logger } from '@nestjs/common';
import { retryWhileAway } from '../common/async.js';
import type { Clock } from '../common/clock.js';
import { StorageUnavailableError } from '../common/errors.js';
import type { IdGenerator } from '../common/ids.js';
import { reasonOf, stackFrames } from '../common/log.js';
import type { Channel, EarlyAnswers } from './channel.js';
import { type DeliveryResult, updateOf } from './delivery-result.js';
import type { DeliveryUpdate } from './delivery-state.js';
import type { IdleTimer } from './idle-timer.js';
import type { Outbox } from './outbox.js';
import type { Delivery } from './outbox-store.js';
import { checkResults, NO_ANSWER } from './result-checks.js';

/** How many stack frames of a throwing transport are logged. */
const FRAMES = 5;

const WORN_OUT: DeliveryResult = { kind: 'unknown', error: 'too_many_attempts' };

/** Submits claimed deliveries to their channel and stores the results. */
export class BatchDelivery {
  private readonly log = new Logger('Dispatcher');
  private readonly upSince: number;

  constructor(
    private readonly channel: Channel,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly rest: IdleTimer,
  ) {
    this.upSince = clock.now();
  }

  /** Resolves when the whole batch is settled or cannot be. Early results are stored early. Never rejects. */
  async deliver(batch: readonly Delivery[], leaseUntil: number): Promise<void> {
    const { upSince } = this;
    const open = new Set(batch);
    const patientUntil = this.clock.elapsed() + leaseUntil - this.clock.now();
    // Includes early results, whose promises the channel may ignore.
    const settling: Promise<void>[] = [];
    const take = (answers: Iterable<readonly [Delivery, DeliveryResult]>): Promise<void> => {
      const at = this.clock.now();
      const settlements = [...answers].flatMap(([delivery, result]) =>
        // The first result of a delivery counts: an early one is not replaced by the list at the end.
        open.delete(delivery)
          ? [updateOf(delivery, result, this.channel, { at, random: this.ids.random(), leaseUntil, upSince })]
          : [],
      );
      const settled = settlements.length > 0 ? this.settle(settlements, patientUntil) : Promise.resolve();
      settling.push(settled);
      return settled;
    };
    // A delivery with too many attempts crashed its worker each time; it is not submitted again.
    const isFit = ({ attempt }: Delivery) => attempt <= this.channel.timing.maxAttempts;
    const fit = batch.filter(isFit);
    const results = await this.handOver(fit, (told) => take(this.judged(told)));
    const rest = fit.map((delivery, index) => [delivery, results[index] ?? NO_ANSWER] as const);
    const worn = batch.filter((delivery) => !isFit(delivery)).map((delivery) => [delivery, WORN_OUT] as const);
    void take([...rest, ...worn]);
    await Promise.all(settling);
  }

  /**
   * Stores results. They are known only here, so storing is repeated for as long as the lease lasts while the storage is away.
   * @param patientUntil the lease's end, by the clock's `elapsed`
   */
  private async settle(settlements: readonly DeliveryUpdate[], patientUntil: number): Promise<void> {
    const { clock, channel, rest } = this;
    const warn = (what: string) => this.log.warn(`Channel ${channel.name}: ${what}`);
    const onAway = (error: StorageUnavailableError) => warn(reasonOf(error));
    try {
      const patience = { clock, until: patientUntil, signal: rest.signal, onAway };
      await retryWhileAway(patience, () => this.outbox.report(settlements));
    } catch (error) {
      // The lease expires, and the channel's repeat policy decides what happens then.
      if (error instanceof StorageUnavailableError) return;
      const [only] = settlements;
      if (settlements.length === 1 && only) {
        warn(`${reasonOf(error)} Not stored: what became of ${only.messageId}:${only.position}`);
        return;
      }
      // Nothing of the batch was written; a faulty update must not fail the others.
      for (const settlement of settlements) await this.settle([settlement], patientUntil);
    }
  }

  private async handOver(batch: readonly Delivery[], early: EarlyAnswers): Promise<readonly DeliveryResult[]> {
    if (batch.length === 0) return [];
    try {
      return this.judge(await this.channel.deliver(batch, this.rest.signal, early), batch.length);
    } catch (error) {
      const where = stackFrames(error, FRAMES);
      this.log.error(`Channel ${this.channel.name}: the transport threw ${reasonOf(error)}${where}`);
      return batch.map(() => ({ kind: 'unknown', error: 'transport_error' }));
    }
  }

  private judged(told: ReadonlyMap<Delivery, DeliveryResult>): readonly (readonly [Delivery, DeliveryResult])[] {
    const answers = this.judge([...told.values()], told.size);
    return [...told.keys()].map((delivery, index) => [delivery, answers[index] ?? NO_ANSWER]);
  }

  private judge(answers: unknown, count: number): readonly DeliveryResult[] {
    const judged = checkResults<DeliveryResult>(answers, count);
    if (judged.fault !== undefined) this.log.error(`Channel ${this.channel.name}: the transport ${judged.fault}.`);
    return judged.answers;
  }
}
