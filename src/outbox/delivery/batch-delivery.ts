import type { Clock } from '../../common/clock.js';
import { retryWhileUnavailable, STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { StorageUnavailableError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultCode, faultLog, reasonOf, stackFrames } from '../../common/log.js';
import { HOUR_MS } from '../../common/time.js';
import type { Channel, StoreEarlyResults } from '../channel.js';
import type { DeliveryUpdate } from '../delivery-state.js';
import type { Outbox } from '../outbox.js';
import type { Delivery } from '../outbox-records.js';
import { EXPIRED } from '../schedule/schedule.js';
import { passRow } from '../settle/held-rows.js';
import { isWindowClosed, WINDOW_CLOSED } from '../windows/attempt-time.js';
import { type DeliveryResult, updateOf } from './delivery-result.js';
import type { IdleTimer } from './idle-timer.js';
import { checkResults, NO_ANSWER } from './result-checks.js';

/** How many stack frames of a throwing transport are logged. */
const FRAMES = 5;

/**
 * How long results are kept if their lease has ended while the storage was unavailable. The constant below limits the
 * number of such batches.
 */
const KEPT_MS = HOUR_MS;
const MAX_KEPT = 1000;

const TOO_MANY_ATTEMPTS: DeliveryResult = { kind: 'unknown', error: 'too_many_attempts' };
const TOO_LATE: DeliveryResult = { kind: 'refused', error: EXPIRED, unasked: true };

/** Submits claimed deliveries to their channel and stores the results. */
export class BatchDelivery {
  private readonly log: FaultLog;
  private readonly upSince: number;
  /**
   * Results whose lease ended before they were stored, with the time until which they are kept, by the clock's
   * `elapsed`.
   */
  private readonly late = new Map<readonly DeliveryUpdate[], number>();
  private storing: Promise<unknown> | undefined;
  /** When late results were last stored, by the clock's `elapsed`. */
  private lastStoring = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly channel: Channel,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    private readonly idle: IdleTimer,
  ) {
    this.log = faultLog('BatchDelivery', clock);
    this.upSince = clock.now();
  }

  /**
   * Submits a batch, and stores early results at once. Resolves when all results are stored or cannot be stored. Never
   * rejects.
   * @param leaseUntil milliseconds since the epoch
   */
  async deliver(batch: readonly Delivery[], leaseUntil: number): Promise<void> {
    const { upSince } = this;
    const open = new Set(batch);
    const retryUntil = this.clock.elapsed() + leaseUntil - this.clock.now();
    // These include the promises of early results, because the channel may ignore them.
    const settling: Promise<void>[] = [];
    const store = (results: Iterable<readonly [Delivery, DeliveryResult]>): Promise<void> => {
      const at = this.clock.now();
      const updates: DeliveryUpdate[] = [];
      for (const [delivery, result] of results) {
        // Only the first result of a delivery counts, so the list at the end does not replace an early result.
        if (!open.delete(delivery)) continue;
        const update = updateOf(delivery, result, this.channel, { at, random: this.ids.random(), leaseUntil, upSince });
        passRow(delivery, update);
        updates.push(update);
      }
      const settled = updates.length > 0 ? this.settle(updates, retryUntil) : Promise.resolve();
      settling.push(settled);
      return settled;
    };
    const claimedAt = this.clock.now();
    const unsubmitted = new Map<Delivery, DeliveryResult>();
    for (const delivery of batch) {
      const result = this.withoutSubmit(delivery, claimedAt);
      if (result) unsubmitted.set(delivery, result);
    }
    const retryable = unsubmitted.size === 0 ? batch : batch.filter((delivery) => !unsubmitted.has(delivery));
    const results = await this.submit(retryable, (early) => store(this.checkedEarly(early)));
    const rest = retryable.map((delivery, index) => [delivery, results[index] ?? NO_ANSWER] as const);
    void store([...rest, ...unsubmitted]);
    await Promise.all(settling);
  }

  /** The result of a delivery that is not submitted; undefined if it is. */
  private withoutSubmit(delivery: Delivery, now: number): DeliveryResult | undefined {
    const { attempt, schedule } = delivery;
    // A delivery with too many attempts has crashed its worker each time, so it is not submitted again.
    if (attempt > this.channel.timing.maxAttempts) return TOO_MANY_ATTEMPTS;
    if (schedule === undefined) return undefined;
    if (schedule.validUntil !== undefined && schedule.validUntil <= now) return TOO_LATE;
    // A pause, a full carrier or an outage has lasted until the window closed.
    return isWindowClosed(delivery, now) ? { kind: 'postponed', error: WINDOW_CLOSED, until: now } : undefined;
  }

  /**
   * Queues deliveries that nothing was tried for, at their old places, as if they had not been claimed. Never rejects.
   * @param leaseUntil milliseconds since the epoch
   */
  queueAgain(batch: readonly Delivery[], leaseUntil: number): Promise<void> {
    const at = this.clock.now();
    const updates = batch.map(({ messageId, position, attempt, acceptedAt }) => {
      return {
        messageId,
        position,
        status: 'queued',
        attempt,
        uncounted: { leaseUntil },
        dueAt: acceptedAt,
        at,
      } as const;
    });
    return this.settle(updates, this.clock.elapsed() + leaseUntil - at);
  }

  /**
   * Stores results whose lease ended while the storage was unavailable, at most once a second. Call it before each
   * claim. A late result is accepted like one in time, until another attempt begins or an expiry changes the state
   * (`nextState`). Returns undefined if there is nothing to store now.
   */
  storeLate(): Promise<unknown> | undefined {
    const now = this.clock.elapsed();
    for (const [updates, until] of this.late) if (until <= now) this.drop(updates);
    if (this.late.size === 0 || this.storing || now - this.lastStoring < STORAGE_RETRY_MS) return this.storing;
    this.lastStoring = now;
    const all = Promise.all([...this.late.keys()].map((updates) => this.settle(updates, now)));
    this.storing = all.finally(() => {
      this.storing = undefined;
    });
    return this.storing;
  }

  /**
   * Keeps results for `storeLate`. If there are too many, the cause is not that the whole storage is unavailable, so
   * the oldest are dropped.
   */
  private keep(updates: readonly DeliveryUpdate[]): void {
    if (!this.late.has(updates)) this.late.set(updates, this.clock.elapsed() + KEPT_MS);
    const [oldest] = this.late.keys();
    if (oldest && this.late.size > MAX_KEPT) this.drop(oldest);
  }

  private drop(updates: readonly DeliveryUpdate[]): void {
    this.late.delete(updates);
    const { name: channel } = this.channel;
    for (const { messageId, position } of updates) {
      this.log.warn(
        `Channel ${channel}: a result could not be stored in time.`,
        { channel, messageId },
        ` It is dropped: ${messageId}:${position}`,
      );
    }
  }

  /**
   * Stores updates. Only this process knows them. So while the storage is unavailable it retries until the lease ends,
   * and then keeps them for `storeLate`.
   * @param retryUntil the end of the lease, by the clock's `elapsed`
   */
  private async settle(updates: readonly DeliveryUpdate[], retryUntil: number): Promise<void> {
    const { clock, channel, idle } = this;
    const warn = (error: unknown, detail?: string, messageId?: string) => {
      const fields = { code: faultCode(error), channel: channel.name, messageId };
      this.log.warn(`Channel ${channel.name}: ${reasonOf(error)}`, fields, detail);
    };
    const onUnavailable = (error: StorageUnavailableError) => warn(error);
    try {
      const patience = { clock, until: retryUntil, signal: idle.signal, onUnavailable };
      await retryWhileUnavailable(patience, () => this.outbox.settle(updates));
      this.late.delete(updates);
    } catch (error) {
      if (error instanceof StorageUnavailableError) return this.keep(updates);
      this.late.delete(updates);
      const [only] = updates;
      if (updates.length === 1 && only) {
        warn(error, ` The result of ${only.messageId}:${only.position} is not stored`, only.messageId);
        return;
      }
      // Nothing of the batch was written. The updates are stored one by one, so that a faulty one does not make the
      // others fail.
      for (const update of updates) await this.settle([update], retryUntil);
    }
  }

  private async submit(batch: readonly Delivery[], early: StoreEarlyResults): Promise<readonly DeliveryResult[]> {
    if (batch.length === 0) return [];
    try {
      return this.checked(await this.channel.deliver(batch, this.idle.signal, early), batch.length);
    } catch (error) {
      const where = stackFrames(error, FRAMES);
      const fields = { code: faultCode(error), channel: this.channel.name, messageId: batch[0]?.messageId };
      this.log.error(`Channel ${this.channel.name}: the transport threw ${reasonOf(error)}`, fields, where);
      return batch.map(() => ({ kind: 'unknown', error: 'transport_error' }));
    }
  }

  private checkedEarly(early: ReadonlyMap<Delivery, DeliveryResult>): readonly (readonly [Delivery, DeliveryResult])[] {
    const results = this.checked([...early.values()], early.size);
    return [...early.keys()].map((delivery, index) => [delivery, results[index] ?? NO_ANSWER]);
  }

  private checked(given: unknown, count: number): readonly DeliveryResult[] {
    const { results, fault } = checkResults<DeliveryResult>(given, count);
    const { name: channel } = this.channel;
    if (fault !== undefined) this.log.error(`Channel ${channel}: the transport ${fault}.`, { channel });
    return results;
  }
}
