import { Logger } from '@nestjs/common';
import { AWAY_MS, within } from '../common/async.js';
import type { Clock } from '../common/clock.js';
import type { IdGenerator } from '../common/ids.js';
import { reasonOf } from '../common/log.js';
import { BatchDelivery } from './batch-delivery.js';
import type { Channel } from './channel.js';
import type { DispatchSettings } from './dispatch-options.js';
import { IdleTimer } from './idle-timer.js';
import type { Outbox } from './outbox.js';
import type { Delivery, OutboxStore } from './outbox-store.js';

/**
 * After a round a worker rests so long, whatever rings: what gathers meanwhile shares the next round's commits. After a
 * longer pause it starts at once. With lanes it does not: of each there is one delivery at a time, so nothing gathers.
 */
const GATHER_MS = 50;

/** Delivers what one channel has to deliver: claims, hands over, settles, until it is stopped. */
export class ChannelWorker {
  private readonly log = new Logger('Dispatcher');
  private readonly rest: IdleTimer;
  private readonly delivery: BatchDelivery;
  private readonly inFlight = new Set<Promise<void>>();
  private running: Promise<void> = Promise.resolve();
  /** By the clock's `elapsed`. */
  private lastExpiry = Number.NEGATIVE_INFINITY;
  /** Whether the last batch of what is overdue was a full one. */
  private moreIsOverdue = false;

  constructor(
    private readonly channel: Channel,
    private readonly store: OutboxStore,
    private readonly outbox: Outbox,
    private readonly settings: DispatchSettings,
    private readonly clock: Clock,
    ids: IdGenerator,
  ) {
    this.rest = new IdleTimer(clock);
    this.delivery = new BatchDelivery(channel, outbox, clock, ids, this.rest);
  }

  start(): void {
    this.running = this.run();
  }

  /** There is something to do. */
  ring(): void {
    this.rest.notify();
  }

  /** Takes nothing new; resolves when the storage has answered and what is in flight is settled, or `shutdownMs` after that. */
  async stop(): Promise<void> {
    this.rest.stop();
    await this.running;
    await this.settled(this.settings.shutdownMs);
  }

  /** Resolves when what is in flight is settled, or after so many milliseconds. */
  async settled(patienceMs: number): Promise<void> {
    await within(this.clock, patienceMs, Promise.all(this.inFlight));
  }

  private async run(): Promise<void> {
    while (!this.rest.stopped) {
      this.rest.answer();
      try {
        const more = await this.round();
        if (!more) await this.sleep();
        // On SQLite all of a round may be microtasks: sockets and timers get their turn here, and lanes that become free
        // in the same one are served together.
        await new Promise(setImmediate);
      } catch (error) {
        this.log.warn(`Channel ${this.channel.name}: ${reasonOf(error)}`);
        await this.rest.pause(AWAY_MS);
      }
    }
  }

  /** Claims first: what is overdue, however much it is, must not hold up what is due. True when there may be more at once. */
  private async round(): Promise<boolean> {
    const moreIsDue = await this.claim();
    await this.expire();
    return moreIsDue || this.moreIsOverdue;
  }

  /** Claims and launches one batch, or one delivery for each lane that is free; true when there may be more at once. */
  private async claim(): Promise<boolean> {
    const lanes = this.channel.lanes();
    if (lanes ? lanes.length === 0 : this.inFlight.size >= this.settings.concurrency) return false;
    const now = this.clock.now();
    const leaseUntil = now + this.channel.timing.leaseMs;
    const batch = await this.store.claim({
      channel: this.channel.name,
      limit: this.settings.batchSize,
      now,
      leaseUntil,
      abandoned: this.channel.repeat !== 'at-most-once',
      ...(lanes ? { lanes } : {}),
    });
    if (batch.length === 0) return false;
    // Lanes do not wait for each other: one may take long to be answered.
    for (const part of lanes ? batch.map((delivery) => [delivery]) : [batch]) this.launch(part, leaseUntil);
    return batch.length === this.settings.batchSize;
  }

  private launch(batch: readonly Delivery[], leaseUntil: number): void {
    const delivered = this.deliver(batch, leaseUntil).finally(() => {
      this.inFlight.delete(delivered);
      this.wakeIfFull();
    });
    this.inFlight.add(delivered);
  }

  /**
   * Resolves at the latest when the lease has ended: what a transport never answers is claimed again then, as though its
   * worker were gone, and must not hold up the rest of the channel.
   */
  private async deliver(batch: readonly Delivery[], leaseUntil: number): Promise<void> {
    const { name } = this.channel;
    const delivered = this.delivery.deliver(batch, leaseUntil).then(() => true);
    if (await within(this.clock, leaseUntil - this.clock.now(), delivered)) return;
    this.log.error(`Channel ${name}: the transport has not answered within the lease; its batch is given up on.`);
  }

  private wakeIfFull(): void {
    if (this.inFlight.size === this.settings.concurrency - 1 || this.channel.lanes()) this.ring();
  }

  /**
   * What waited too long for a report, or was left by a worker that must not repeat it, becomes `unknown`: one batch a round,
   * twice in `pollMs`, and in each round while there is more.
   */
  private async expire(): Promise<void> {
    const elapsed = this.clock.elapsed();
    if (!this.moreIsOverdue && elapsed - this.lastExpiry < this.settings.pollMs / 2) return;
    this.lastExpiry = elapsed;
    const now = this.clock.now();
    const statuses = this.channel.repeat === 'at-most-once' ? (['sent', 'sending'] as const) : (['sent'] as const);
    const order = { channel: this.channel.name, limit: this.settings.batchSize, now, statuses };
    this.moreIsOverdue = (await this.outbox.expire(order)) === order.limit;
  }

  /** Until a ring, the next due time or the next look, whichever is first. */
  private async sleep(): Promise<void> {
    if (!this.channel.lanes()) await this.rest.pause(GATHER_MS);
    if (this.rest.isNotified || this.rest.stopped) return;
    const due = await this.store.nextDue(this.channel.name);
    const wait = due === undefined ? this.settings.pollMs : due - this.clock.now();
    // What is due and was not claimed waits for somebody else, for instance for its lane: no hot loop on it.
    const least = wait <= 0 ? this.settings.pollMs / 4 : GATHER_MS;
    await this.rest.untilNotified(Math.min(Math.max(wait, least), this.settings.pollMs));
  }
}
