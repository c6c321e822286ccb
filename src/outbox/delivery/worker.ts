import type { Clock } from '../../common/clock.js';
import { STORAGE_RETRY_MS, within } from '../../common/concurrency/async.js';
import type { Rounds } from '../../common/concurrency/rounds.js';
import type { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultCode, faultLog, reasonOf } from '../../common/log.js';
import type { Channel } from '../channel.js';
import type { OperatingSwitches } from '../operating-state.js';
import type { Outbox } from '../outbox.js';
import type { ClaimOrder, Delivery } from '../outbox-records.js';
import type { OutboxStore } from '../outbox-store.js';
import { rankOf } from '../queue/priority.js';
import { BatchDelivery } from './batch-delivery.js';
import { CAPACITY_MS } from './capacity.js';
import type { DispatchSettings } from './dispatch-options.js';
import { type DirectDelivery, HandOver, type LeasedBatch } from './hand-over.js';
import { IdleTimer } from './idle-timer.js';

/**
 * The pause after a round, in milliseconds. It does not end when work arrives, so that deliveries gather and share the
 * commits of the next round. Channels with lanes skip the pause: each lane has one delivery at a time, so nothing would
 * gather.
 */
const GATHER_MS = 50;

/** The time between two searches for deliveries that enter their lanes, in milliseconds. */
const ENTER_MS = 250;

/** The time between two checks whether the channel has capacity again, in milliseconds. */
const CAPACITY_LOOK_MS = CAPACITY_MS / 2;

/**
 * The longest time between two searches for due deliveries while all are handed over directly, in milliseconds. A retry or
 * a delivery of another process is found then.
 */
const LOOK_MS = 200;

/**
 * How long a channel without deliveries may report that it has no capacity, in milliseconds. After this time it gets
 * one delivery anyway, so that a wrong count does not stop the channel for good.
 */
const MAX_WITHOUT_CAPACITY_MS = 10_000;

/** Delivers for one channel until it is stopped: claims deliveries, submits them and stores their results. */
export class ChannelWorker {
  private readonly log: FaultLog;
  private readonly idle: IdleTimer;
  private readonly delivery: BatchDelivery;
  private readonly inFlight = new Set<Promise<void>>();
  /** The number of batches in flight, without the batch in the slot for codes. */
  private batches = 0;
  /** The number of deliveries in flight. */
  private held = 0;
  /** Whether the slot for codes is in use. */
  private carriesCodes = false;
  /** Whether deliveries may have been accepted since the last claim. */
  private isCalled = true;
  /** The maximum number of deliveries that the last claim could take. Claims of codes only do not count. */
  private lastLimit: number;
  /** Whether more deliveries may be due than the channel has capacity for. */
  private lacksCapacity = false;
  /**
   * When the last claim was made that was not of codes only, by the clock's `elapsed`. `lastLook` is the same for all
   * claims.
   */
  private lastClaim = Number.NEGATIVE_INFINITY;
  private lastLook = Number.NEGATIVE_INFINITY;
  /**
   * Whether the last claim has left nothing that was due. Only then may deliveries be handed over directly, so that none
   * overtakes those in the storage.
   */
  private isClear = false;
  private readonly handOver: HandOver | undefined;
  private running: Promise<void> = Promise.resolve();
  /** When overdue deliveries were last expired, by the clock's `elapsed`. */
  private lastExpiry = Number.NEGATIVE_INFINITY;
  /** When due deliveries last entered their lanes, by the clock's `elapsed`. */
  private lastEntering = Number.NEGATIVE_INFINITY;
  /** Whether the last batch of overdue deliveries was full. */
  private moreIsOverdue = false;

  constructor(
    private readonly channel: Channel,
    private readonly store: OutboxStore,
    private readonly outbox: Outbox,
    private readonly settings: DispatchSettings,
    private readonly clock: Clock,
    ids: IdGenerator,
    private readonly rounds: Rounds,
    private readonly switches?: OperatingSwitches,
  ) {
    this.log = faultLog('ChannelWorker', clock);
    this.lastLimit = settings.batchSize;
    this.idle = new IdleTimer(clock);
    this.delivery = new BatchDelivery(channel, outbox, clock, ids, this.idle);
    // If the process ends before it submits a delivery that was handed over, the lease ends. A channel that must not
    // repeat would then give the delivery up, although nothing was sent.
    if (channel.repeat !== 'at-most-once' && !channel.lanes()) {
      this.handOver = new HandOver(
        clock,
        channel.timing.leaseMs,
        () => this.directCapacity(),
        () => this.received(),
      );
    }
  }

  /** Takes deliveries from the accepts of this process; undefined if the channel's deliveries must be claimed. */
  get direct(): DirectDelivery | undefined {
    return this.handOver;
  }

  start(): void {
    this.running = this.run();
  }

  /** Ends the worker's wait, because deliveries may be due. */
  notify(): void {
    this.isCalled = true;
    this.idle.notify();
  }

  /**
   * Stops claiming. Resolves when the current round has ended and the results of the batches in flight are stored. It
   * waits for these batches for at most `shutdownMs`.
   */
  async stop(): Promise<void> {
    this.idle.stop();
    await this.running;
    this.putBack();
    await this.settled(this.settings.shutdownMs);
  }

  /** Resolves when the results of the batches in flight are stored, at the latest after `patienceMs` milliseconds. */
  async settled(patienceMs: number): Promise<void> {
    await within(this.clock, patienceMs, Promise.all(this.inFlight));
  }

  private async run(): Promise<void> {
    const rounds = this.rounds.start(`deliver ${this.channel.name}`, { everyMs: this.settings.pollMs });
    while (!this.idle.stopped) {
      this.idle.clear();
      try {
        const more = await this.round();
        rounds.ended();
        if (!more) await this.sleep();
        // On SQLite, a whole round may consist of microtasks. So the worker yields to sockets and timers here. Lanes
        // that become free in the same turn are then served together.
        await new Promise(setImmediate);
      } catch (error) {
        const { name: channel } = this.channel;
        this.log.warn(`Channel ${channel}: ${reasonOf(error)}`, { code: faultCode(error), channel });
        this.isCalled = true;
        await this.idle.pause(STORAGE_RETRY_MS);
      }
    }
    rounds.stopped();
  }

  /**
   * Claims due deliveries and then expires overdue ones, so that the overdue ones do not delay the due ones. Late
   * results are stored first, because a claim or an expiry would make them invalid. If a locked row delays them, claims
   * do not wait for them.
   * @returns true if more deliveries may be due at once
   */
  private async round(): Promise<boolean> {
    const late = this.delivery.storeLate();
    if (late) await within(this.clock, STORAGE_RETRY_MS, late);
    const moreIsDue = await this.claim();
    await this.expire();
    return moreIsDue || this.moreIsOverdue;
  }

  /**
   * Claims and submits one batch, or one delivery for each free lane.
   * @returns true if more deliveries may be due at once
   */
  private async claim(): Promise<boolean> {
    const lanes = this.channel.lanes();
    if (lanes) {
      await this.enterLanes();
      return lanes.length > 0 && this.claimLanes(lanes);
    }
    const { batchSize } = this.settings;
    const isServed = await this.takeHanded();
    if (isServed && !this.isCalled && this.clock.elapsed() - this.lastLook < Math.min(LOOK_MS, this.settings.pollMs)) {
      return false;
    }
    const limit = this.limit();
    if (limit <= 0) {
      // Others may wait in the storage now, so nothing more is handed over before the next claim.
      this.isClear = false;
      await this.claimCodes();
      return false;
    }
    this.lastLimit = limit;
    this.lastClaim = this.clock.elapsed();
    const { batch, leaseUntil, isWhole } = await this.take({ limit });
    this.isClear = isWhole && batch.length < limit;
    if (batch.length > 0) this.launchBatch(batch, leaseUntil);
    this.lacksCapacity = batch.length === limit && limit < batchSize;
    return batch.length === batchSize;
  }

  private launchBatch(batch: readonly Delivery[], leaseUntil: number): void {
    this.batches++;
    this.launch(batch, leaseUntil, () => {
      this.batches--;
      return this.batches === this.settings.concurrency - 1;
    });
  }

  /**
   * Submits the deliveries that were handed over, as far as there is capacity. Those of paused accounts are queued, and
   * so are all whose lease has half passed.
   * @returns whether there were any
   */
  private async takeHanded(): Promise<boolean> {
    const { handOver } = this;
    if (!handOver || handOver.isEmpty) return false;
    const paused = await this.switches?.pausedOf(this.channel.name);
    while (!handOver.isEmpty && (this.countsDeliveries() || this.batches < this.settings.concurrency)) {
      const taken = handOver.take();
      if (!taken) break;
      const { batch, leaseUntil } = taken;
      const isLate = leaseUntil - this.clock.now() < this.channel.timing.leaseMs / 2;
      const waits = ({ accountId }: Delivery) => isLate || paused === 'all' || paused?.includes(accountId) === true;
      const waiting = isLate || paused !== undefined ? batch.filter(waits) : [];
      const rest = waiting.length === 0 ? batch : batch.filter((each) => !waits(each));
      if (waiting.length > 0) this.queueAgain({ batch: waiting, leaseUntil });
      if (rest.length > 0) this.launchBatch(inPriority(rest), leaseUntil);
    }
    return true;
  }

  /** Called when deliveries were handed over. */
  private received(): void {
    if (this.idle.stopped) this.putBack();
    else this.idle.notify();
  }

  /** Queues the deliveries that were handed over and that this worker does not submit, because it stops. */
  private putBack(): void {
    for (let taken = this.handOver?.take(); taken; taken = this.handOver?.take()) this.queueAgain(taken);
  }

  private queueAgain({ batch, leaseUntil }: LeasedBatch): void {
    this.isClear = false;
    const queued = this.delivery.queueAgain(batch, leaseUntil).finally(() => this.inFlight.delete(queued));
    this.inFlight.add(queued);
  }

  private async claimLanes(lanes: readonly string[]): Promise<boolean> {
    const { batchSize } = this.settings;
    const { batch, leaseUntil } = await this.take({ limit: batchSize, lanes });
    // The delivery of each lane is a batch of its own, so that a slow lane does not delay the others.
    for (const delivery of batch) this.launch([delivery], leaseUntil, () => true);
    return batch.length === batchSize;
  }

  /** Lets deliveries whose time has come enter their lanes. */
  private async enterLanes(): Promise<void> {
    const elapsed = this.clock.elapsed();
    if (elapsed - this.lastEntering < ENTER_MS) return;
    const more = await this.store.enterLanes(this.channel.name, this.clock.now());
    this.lastEntering = more ? Number.NEGATIVE_INFINITY : elapsed;
  }

  /**
   * Claims codes for the slot that is reserved for them, if there is no capacity for anything else. Without the slot,
   * codes would have to wait for the end of a batch on a slow carrier.
   */
  private async claimCodes(): Promise<void> {
    const { batchSize, pollMs } = this.settings;
    const isDue = this.isCalled || this.clock.elapsed() - this.lastLook >= pollMs;
    if (this.carriesCodes || !isDue) return;
    const limit = Math.min(this.lastLimit, batchSize);
    const { batch, leaseUntil } = await this.take({ limit, only: 'code' });
    if (batch.length === 0) return;
    this.carriesCodes = true;
    this.launch(batch, leaseUntil, () => {
      this.carriesCodes = false;
      this.isCalled ||= batch.length === limit;
      return this.isCalled;
    });
  }

  /** How many deliveries may be claimed now. */
  private limit(): number {
    const fitting = this.fitting();
    this.lacksCapacity = fitting === 0 && this.channel.capacity?.() !== undefined;
    if (!this.lacksCapacity) return fitting;
    const hasRested = this.clock.elapsed() - this.lastClaim >= MAX_WITHOUT_CAPACITY_MS;
    return this.held === 0 && hasRested ? 1 : 0;
  }

  /** How many more deliveries may be handed over now. */
  private directCapacity(): number {
    if (!this.isClear || this.isCalled || this.idle.stopped) return 0;
    if (this.countsDeliveries()) return this.fitting();
    const { batchSize, concurrency } = this.settings;
    return this.batches < concurrency ? batchSize - (this.handOver?.held ?? 0) : 0;
  }

  /** Whether the channel reports its capacity now. A channel that may report it need not do so. */
  private countsDeliveries(): boolean {
    return this.channel.capacity?.() !== undefined;
  }

  /** How many deliveries the channel has capacity for, besides those in flight and those that were handed over. */
  private fitting(): number {
    const { batchSize, concurrency } = this.settings;
    const handed = this.handOver?.held ?? 0;
    const capacity = this.channel.capacity?.();
    // What was handed over becomes a batch of its own.
    if (capacity === undefined) {
      return this.batches + (handed > 0 ? 1 : 0) < concurrency ? batchSize : 0;
    }
    // The batches of such a channel may be as small as its capacity, so deliveries are counted here instead of batches.
    const free = Math.min(Math.floor(capacity) - handed, batchSize, concurrency * batchSize - this.held - handed);
    // NaN counts as no capacity.
    return free >= 1 ? free : 0;
  }

  private async take(
    order: Pick<ClaimOrder, 'limit' | 'lanes' | 'only'>,
  ): Promise<LeasedBatch & { readonly isWhole: boolean }> {
    this.isCalled = false;
    this.lastLook = this.clock.elapsed();
    const { name, timing, repeat } = this.channel;
    const except = await this.switches?.pausedOf(name);
    const now = this.clock.now();
    const leaseUntil = now + timing.leaseMs;
    if (except === 'all') return { batch: [], leaseUntil, isWhole: false };
    const batch = await this.store.claim({
      ...order,
      channel: name,
      now,
      leaseUntil,
      abandoned: repeat !== 'at-most-once',
      ...(except && { except }),
    });
    return { batch, leaseUntil, isWhole: except === undefined };
  }

  /**
   * @param ended called when the batch has ended; it returns true if deliveries that wait for this can be claimed now
   */
  private launch(batch: readonly Delivery[], leaseUntil: number, ended: () => boolean): void {
    this.held += batch.length;
    const delivered = this.deliver(batch, leaseUntil).finally(() => {
      this.inFlight.delete(delivered);
      this.held -= batch.length;
      const hasCapacity = this.lacksCapacity && this.held === 0 && this.lastLimit > 1;
      if (ended() || hasCapacity) this.idle.notify();
    });
    this.inFlight.add(delivered);
  }

  /**
   * Delivers a batch. Resolves at the latest when the lease has ended. A batch that the transport never answers is then
   * claimed again, as after a crash, and must not block the rest of the channel.
   */
  private async deliver(batch: readonly Delivery[], leaseUntil: number): Promise<void> {
    const { name } = this.channel;
    const delivered = this.delivery.deliver(batch, leaseUntil).then(() => true);
    if (await within(this.clock, leaseUntil - this.clock.now(), delivered)) return;
    this.log.error(`Channel ${name}: the transport has not answered within the lease; its batch is given up on.`, {
      channel: name,
      messageId: batch[0]?.messageId,
    });
  }

  /**
   * Makes deliveries `unknown` if their report has not come in time, or if a worker crashed and its attempt must not be
   * repeated. It handles one batch twice in each `pollMs`, or one in each round while batches are full.
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

  /**
   * Waits for a notification, the next due time, the next poll or the next check of the capacity, whichever comes
   * first.
   */
  private async sleep(): Promise<void> {
    if (!this.channel.lanes()) await this.idle.pause(GATHER_MS);
    if (this.idle.isNotified || this.idle.stopped) return;
    if (this.lacksCapacity)
      return this.idle.untilNotified(this.lastLimit > 1 ? CAPACITY_LOOK_MS - GATHER_MS : CAPACITY_MS);
    const due = await this.store.nextDue(this.channel.name);
    const wait = due === undefined ? this.settings.pollMs : due - this.clock.now();
    // A due delivery that was not claimed waits for something else, for example for its lane. So the worker pauses
    // instead of polling in a tight loop.
    const least = wait <= 0 ? this.settings.pollMs / 4 : GATHER_MS;
    await this.idle.untilNotified(Math.min(Math.max(wait, least), this.settings.pollMs));
  }
}

/** Orders a batch by priority. Within a priority it is in the order of the accepts. */
function inPriority(batch: readonly Delivery[]): readonly Delivery[] {
  const [first] = batch;
  if (batch.every(({ priority }) => priority === first?.priority)) return batch;
  return batch.toSorted((a, b) => rankOf(a.priority) - rankOf(b.priority));
}
