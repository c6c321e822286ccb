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
 * The pause after a round, in milliseconds, also when work arrives: deliveries that gather meanwhile share the next round's
 * commits. Channels with lanes skip it, because each lane has one delivery at a time and nothing gathers.
 */
const GATHER_MS = 50;

/** Delivers for one channel until it is stopped: claims deliveries, submits them and stores their results. */
export class ChannelWorker {
  private readonly log = new Logger('ChannelWorker');
  private readonly idle: IdleTimer;
  private readonly delivery: BatchDelivery;
  private readonly inFlight = new Set<Promise<void>>();
  private running: Promise<void> = Promise.resolve();
  /** By the clock's `elapsed`. */
  private lastExpiry = Number.NEGATIVE_INFINITY;
  /** Whether the last batch of overdue deliveries was full. */
  private moreIsOverdue = false;

  constructor(
    private readonly channel: Channel,
    private readonly store: OutboxStore,
    private readonly outbox: Outbox,
    private readonly settings: DispatchSettings,
    private readonly clock: Clock,
    ids: IdGenerator,
  ) {
    this.idle = new IdleTimer(clock);
    this.delivery = new BatchDelivery(channel, outbox, clock, ids, this.idle);
  }

  start(): void {
    this.running = this.run();
  }

  /** Ends the worker's wait, because deliveries may be due. */
  notify(): void {
    this.idle.notify();
  }

  /**
   * Claims nothing more. Resolves when the current round has ended and the batches in flight are settled, the latter at most
   * `shutdownMs` later.
   */
  async stop(): Promise<void> {
    this.idle.stop();
    await this.running;
    await this.settled(this.settings.shutdownMs);
  }

  /** Resolves when the batches in flight are settled, or after `patienceMs` milliseconds. */
  async settled(patienceMs: number): Promise<void> {
    await within(this.clock, patienceMs, Promise.all(this.inFlight));
  }

  private async run(): Promise<void> {
    while (!this.idle.stopped) {
      this.idle.clear();
      try {
        const more = await this.round();
        if (!more) await this.sleep();
        // On SQLite a whole round may be microtasks. Yield to sockets and timers; lanes that become free in the same turn are
        // then served together.
        await new Promise(setImmediate);
      } catch (error) {
        this.log.warn(`Channel ${this.channel.name}: ${reasonOf(error)}`);
        await this.idle.pause(AWAY_MS);
      }
    }
  }

  /** Claims before it expires, so that overdue deliveries do not delay due ones. True when more may be due at once. */
  private async round(): Promise<boolean> {
    const moreIsDue = await this.claim();
    await this.expire();
    return moreIsDue || this.moreIsOverdue;
  }

  /** Claims and launches one batch, or one delivery for each free lane; true when more may be due at once. */
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
    // Each lane is a batch of its own, so that a slow one does not delay the others.
    for (const part of lanes ? batch.map((delivery) => [delivery]) : [batch]) this.launch(part, leaseUntil);
    return batch.length === this.settings.batchSize;
  }

  private launch(batch: readonly Delivery[], leaseUntil: number): void {
    const delivered = this.deliver(batch, leaseUntil).finally(() => {
      this.inFlight.delete(delivered);
      this.notifyIfWasFull();
    });
    this.inFlight.add(delivered);
  }

  /**
   * Resolves at the latest when the lease has ended: a batch that the transport never answers is claimed again then, as after a
   * crash, and must not block the rest of the channel.
   */
  private async deliver(batch: readonly Delivery[], leaseUntil: number): Promise<void> {
    const { name } = this.channel;
    const delivered = this.delivery.deliver(batch, leaseUntil).then(() => true);
    if (await within(this.clock, leaseUntil - this.clock.now(), delivered)) return;
    this.log.error(`Channel ${name}: the transport has not answered within the lease; its batch is given up on.`);
  }

  private notifyIfWasFull(): void {
    if (this.inFlight.size === this.settings.concurrency - 1 || this.channel.lanes()) this.notify();
  }

  /**
   * Moves deliveries without a report in time, and those that a crashed worker must not repeat, to `unknown`: one batch twice
   * in `pollMs`, or one in each round while batches are full.
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

  /** Waits for a notification, the next due time or the next poll, whichever is first. */
  private async sleep(): Promise<void> {
    if (!this.channel.lanes()) await this.idle.pause(GATHER_MS);
    if (this.idle.isNotified || this.idle.stopped) return;
    const due = await this.store.nextDue(this.channel.name);
    const wait = due === undefined ? this.settings.pollMs : due - this.clock.now();
    // A delivery that is due and was not claimed waits for something else, for instance its lane; do not poll in a hot loop.
    const least = wait <= 0 ? this.settings.pollMs / 4 : GATHER_MS;
    await this.idle.untilNotified(Math.min(Math.max(wait, least), this.settings.pollMs));
  }
}
