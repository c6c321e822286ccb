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

/** How many lines of the stack tell where a transport threw. */
const FRAMES = 5;

const WORN_OUT: DeliveryResult = { kind: 'unknown', error: 'too_many_attempts' };

/** Hands what was claimed for a channel over to it, and stores what became of it. */
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

  /** Resolves when all of the batch is settled, or cannot be; what the channel tells early is settled early. Never rejects. */
  async deliver(batch: readonly Delivery[], leaseUntil: number): Promise<void> {
    const { upSince } = this;
    const open = new Set(batch);
    const patientUntil = this.clock.elapsed() + leaseUntil - this.clock.now();
    // Also those that nobody waits for.
    const settling: Promise<void>[] = [];
    const take = (answers: Iterable<readonly [Delivery, DeliveryResult]>): Promise<void> => {
      const at = this.clock.now();
      const settlements = [...answers].flatMap(([delivery, result]) =>
        // Each is answered once: what the list at the end says of one that was told early no longer counts.
        open.delete(delivery)
          ? [updateOf(delivery, result, this.channel, { at, random: this.ids.random(), leaseUntil, upSince })]
          : [],
      );
      const settled = settlements.length > 0 ? this.settle(settlements, patientUntil) : Promise.resolve();
      settling.push(settled);
      return settled;
    };
    // A delivery that was claimed too often has taken its worker down each time: it is not handed over again.
    const isFit = ({ attempt }: Delivery) => attempt <= this.channel.timing.maxAttempts;
    const fit = batch.filter(isFit);
    const results = await this.handOver(fit, (told) => take(this.judged(told)));
    const rest = fit.map((delivery, index) => [delivery, results[index] ?? NO_ANSWER] as const);
    const worn = batch.filter((delivery) => !isFit(delivery)).map((delivery) => [delivery, WORN_OUT] as const);
    void take([...rest, ...worn]);
    await Promise.all(settling);
  }

  /**
   * What the carrier said is known only here: a storage that is away is asked again for as long as the lease lasts.
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
      // Not stored: the lease runs out, and the channel's repeat policy says what happens then.
      if (error instanceof StorageUnavailableError) return;
      const [only] = settlements;
      if (settlements.length === 1 && only) {
        warn(`${reasonOf(error)} Not stored: what became of ${only.messageId}:${only.position}`);
        return;
      }
      // One bad settlement must not take the others of its batch with it; nothing of the batch was written.
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
