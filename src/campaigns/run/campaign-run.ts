import type { Clock } from '../../common/clock.js';
import { STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { type FaultLog, faultCode, reasonOf } from '../../common/log.js';
import { MINUTE_MS, SECOND_MS } from '../../common/time.js';
import type { PauseReason } from '../../events/events.api.js';
import type { MessagingEvents } from '../../events/messaging-events.js';
import { IdleTimer } from '../../outbox/delivery/idle-timer.js';
import type { Campaign } from '../campaign.js';
import type { CampaignOrder, CampaignStore } from '../campaign-store.js';
import type { RecipientStore } from '../recipients/recipient-store.js';
import { type CampaignFeed, paceOf } from './campaign-feed.js';
import type { CampaignWithdrawal } from './campaign-withdrawal.js';
import type { CampaignLease, LeaseStore } from './lease-store.js';
import type { CampaignRunSettings } from './run-settings.js';
import type { SliceStore } from './slice-store.js';

/** What the runs of a process share. */
export interface RunContext {
  readonly campaigns: CampaignStore;
  readonly recipients: RecipientStore;
  readonly slices: SliceStore;
  readonly leases: LeaseStore;
  readonly feed: CampaignFeed;
  readonly withdrawal: CampaignWithdrawal;
  readonly settings: CampaignRunSettings;
  readonly events: MessagingEvents;
  readonly clock: Clock;
  readonly log: FaultLog;
}

/** How many slices one count reads at most. */
const COUNTED_SLICES = 20;

/** The time between two looks at an SMS queue that is full, and the longest wait for a time, in milliseconds. */
const FULL_MS = 200;
const MAX_WAIT_MS = MINUTE_MS;

/** How often the states of a campaign's SMS are counted while there is nothing else to do, in milliseconds. */
const COUNT_MS = 5 * SECOND_MS;

/** After so many accepted slices, a slice has its full size again. */
const GROWS_AFTER = 4;

/**
 * Looks after one campaign as long as this process has its lease: begins it at its time, turns its recipients into SMS, pauses it if
 * it cannot go on, completes it, and counts the states of its SMS until they are final.
 */
export class CampaignRun {
  private readonly idle: IdleTimer;
  /** The number of SMS that waited for the carriers at the last count, and that were accepted since. */
  private waiting = Number.POSITIVE_INFINITY;
  /** When the states were counted last, by the clock's `elapsed`. */
  private countedAt = Number.NEGATIVE_INFINITY;
  /** The size of the next slice at most. It shrinks if the balance does not pay a whole one. */
  private size = Number.POSITIVE_INFINITY;
  /** How many slices of that size were accepted in a row. */
  private accepted = 0;
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;

  constructor(
    readonly lease: CampaignLease,
    private readonly context: RunContext,
  ) {
    this.idle = new IdleTimer(context.clock);
    this.ended = this.run();
  }

  /** Looks at the campaign soon, because it has changed. */
  wake(): void {
    this.idle.notify();
  }

  /** Ends the run after its present step. */
  stop(): void {
    this.idle.stop();
  }

  private async run(): Promise<void> {
    while (!this.idle.stopped) {
      this.idle.clear();
      let waitMs: number | undefined;
      try {
        waitMs = await this.step();
      } catch (error) {
        const { id } = this.lease;
        const fields = { code: faultCode(error), campaignId: id };
        this.context.log.warn('A campaign could not go on.', fields, ` ${id}: ${reasonOf(error)}`);
        await this.idle.pause(STORAGE_RETRY_MS);
        continue;
      }
      if (waitMs === undefined) return;
      if (waitMs > 0) await this.idle.untilNotified(waitMs);
    }
  }

  /** Does the next thing. Returns how long to wait for the one after it, in milliseconds; undefined: the run has ended. */
  private async step(): Promise<number | undefined> {
    const { leases, clock } = this.context;
    const loaded = await leases.load(this.lease, clock.now());
    if (!loaded) return undefined;
    const { campaign, now } = loaded;
    switch (campaign.status) {
      case 'draft':
        return undefined;
      case 'scheduled':
        return this.begin(campaign, now);
      case 'running':
        return this.go(campaign, now);
      default:
        return this.follow(campaign);
    }
  }

  private async begin(campaign: Campaign, now: number): Promise<number> {
    const waitMs = (campaign.sendAt ?? now) - now;
    if (waitMs > 0) return Math.min(waitMs, MAX_WAIT_MS);
    await this.change(campaign, { action: 'begin', at: now });
    return 0;
  }

  private async go(campaign: Campaign, now: number): Promise<number> {
    const { recipients: store, feed, clock, settings } = this.context;
    if (campaign.accepted >= campaign.recipients) return this.finish(campaign, now);
    const obstacle = await feed.obstacleOf(campaign);
    if (obstacle) return this.pause(campaign, now, obstacle);
    const isStale = clock.elapsed() - this.countedAt >= COUNT_MS;
    if (isStale || this.waiting >= settings.maxWaiting) await this.count(campaign);
    if (this.waiting >= settings.maxWaiting) return FULL_MS;
    if (campaign.dueAt > now) return Math.min(campaign.dueAt - now, COUNT_MS);
    const next = await store.pending(
      campaign,
      campaign.place,
      Math.min(this.size, paceOf(campaign, settings.slice).size),
    );
    // The numbers of the others were erased after the campaign was read.
    if (next.length === 0) return FULL_MS;
    const fed = await feed.feed(campaign, next);
    switch (fed.kind) {
      case 'accepted':
        this.waiting += next.length;
        this.accepted++;
        if (this.accepted >= GROWS_AFTER) this.restoreSize();
        return 0;
      case 'moved':
        return FULL_MS;
      case 'capped':
        if (next.length > 1) return this.shrink(next.length);
        await this.context.leases.hold(campaign, now + fed.waitMs);
        this.restoreSize();
        return 0;
      case 'refused':
        if (next.length > 1) return this.shrink(next.length);
        if (fed.reason === 'send_refused') {
          const { id } = campaign;
          const fields = { code: fed.code, campaignId: id };
          this.context.log.warn('A campaign paused, because its next SMS was refused.', fields, ` ${id}: ${fed.code}`);
        }
        return this.pause(campaign, now, fed.reason);
    }
  }

  /** Completes a campaign whose recipients are all SMS, unless one waits, for example for its window: it can still be canceled. */
  private async finish(campaign: Campaign, at: number): Promise<number> {
    const before = this.waiting;
    await this.count(campaign);
    // It counts some slices only. The others are counted in the next rounds, those that waited first.
    const [waiting] = await this.context.slices.waiting(campaign, 0, 1);
    if (waiting) return this.waiting < before ? FULL_MS : COUNT_MS;
    await this.change(campaign, { action: 'complete', at });
    return 0;
  }

  /** Tries fewer recipients, so that in the end all are accepted that the balance pays. */
  private shrink(refused: number): number {
    this.size = Math.floor(refused / 2);
    this.accepted = 0;
    return 0;
  }

  private restoreSize(): void {
    this.size = Number.POSITIVE_INFINITY;
    this.accepted = 0;
  }

  private async pause(campaign: Campaign, at: number, reason: PauseReason): Promise<number> {
    this.restoreSize();
    await this.change(campaign, { action: 'pause', at, reason });
    return 0;
  }

  /**
   * Counts the states of a campaign that accepts nothing, until they are final. If it is canceled, its SMS that still wait are, too:
   * the process that was to cancel them may have crashed.
   */
  private async follow(campaign: Campaign): Promise<number | undefined> {
    this.restoreSize();
    if (campaign.status === 'canceled') await this.context.withdrawal.withdraw(campaign);
    if ((await this.count(campaign)) > 0) return COUNT_MS;
    await this.context.leases.rest(campaign);
    return undefined;
  }

  /** Counts the states of those SMS that may have changed most. Returns how many slices may still change. */
  private async count(campaign: Campaign): Promise<number> {
    const { slices, clock } = this.context;
    const counted = await slices.count(await slices.open(campaign, COUNTED_SLICES), clock.now());
    await slices.keep(campaign, counted, clock.now());
    this.countedAt = clock.elapsed();
    this.waiting = counted.reduce((sum, { waiting }) => sum + waiting, 0);
    return counted.filter(({ open }) => open).length + (counted.length === COUNTED_SLICES ? 1 : 0);
  }

  private async change({ id, accountId }: Campaign, order: CampaignOrder): Promise<void> {
    const changed = await this.context.campaigns.change({ id, accountId }, order);
    for (const event of changed?.events ?? []) this.context.events.publish(event);
  }
}
