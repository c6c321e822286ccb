import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { type RoundReport, Rounds } from '../../common/concurrency/rounds.js';
import { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultCode, faultLog, reasonOf } from '../../common/log.js';
import { Notifier } from '../../common/notifier.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import { DispatchSettings, roleDelivers } from '../../outbox/delivery/dispatch-options.js';
import { IdleTimer } from '../../outbox/delivery/idle-timer.js';
import { CampaignStore } from '../campaign-store.js';
import { RecipientStore } from '../recipients/recipient-store.js';
import { CampaignFeed } from './campaign-feed.js';
import { CampaignRun, type RunContext } from './campaign-run.js';
import { CampaignWithdrawal } from './campaign-withdrawal.js';
import { LeaseStore } from './lease-store.js';
import { CampaignRunSettings } from './run-settings.js';
import { SliceStore } from './slice-store.js';

/** How many campaigns a process looks after at most. */
const MAX_CAMPAIGNS = 50;

/** Looks after campaigns in processes of the roles `all` and `worker`. One process at a time looks after a campaign. */
@Injectable()
export class CampaignRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log: FaultLog;
  private readonly owner: string;
  private readonly idle: IdleTimer;
  private readonly context: RunContext;
  private readonly runs = new Map<string, CampaignRun>();
  private readonly pollMs: number;
  private running: Promise<void> = Promise.resolve();
  private stopListening: () => void = () => undefined;
  /** When the leases were renewed last, by the clock's `elapsed`. */
  private renewedAt = 0;

  constructor(
    private readonly leases: LeaseStore,
    campaigns: CampaignStore,
    recipients: RecipientStore,
    slices: SliceStore,
    feed: CampaignFeed,
    withdrawal: CampaignWithdrawal,
    events: MessagingEvents,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    ids: IdGenerator,
    private readonly dispatch: DispatchSettings,
    private readonly settings: CampaignRunSettings,
    private readonly rounds: Rounds,
  ) {
    this.owner = ids.next();
    this.log = faultLog('Campaigns', clock);
    this.idle = new IdleTimer(clock);
    this.pollMs = Math.min(dispatch.pollMs, settings.leaseMs / 6);
    this.context = { campaigns, recipients, slices, leases, feed, withdrawal, settings, events, clock, log: this.log };
  }

  onApplicationBootstrap(): void {
    if (!roleDelivers(this.dispatch.role, 'no lanes')) return;
    this.stopListening = this.notifier.listen('campaign', (id) => this.wake(id));
    this.running = this.run(this.rounds.start('campaigns', { everyMs: this.pollMs }));
  }

  /** Ends the present steps, and gives the campaigns to other processes. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopListening();
    this.idle.stop();
    await this.running;
    const runs = [...this.runs.values()];
    for (const run of runs) run.stop();
    await Promise.all(runs.map(({ ended }) => ended));
    if (runs.length === 0) return;
    const leases = runs.map(({ lease }) => lease);
    // If this fails, another process takes the campaigns when the leases have ended.
    await this.leases.release(leases, this.owner).catch((error: unknown) => this.report(error));
  }

  private wake(id: string): void {
    const run = this.runs.get(id);
    if (run) run.wake();
    else this.idle.notify();
  }

  private async run(rounds: RoundReport): Promise<void> {
    while (!this.idle.stopped) {
      this.idle.clear();
      try {
        await this.renew();
        await this.take();
        rounds.ended();
        await this.idle.untilNotified(this.pollMs);
      } catch (error) {
        this.report(error);
        await this.idle.pause(STORAGE_RETRY_MS);
      }
    }
    rounds.stopped();
  }

  private async renew(): Promise<void> {
    const now = this.clock.elapsed();
    if (this.runs.size === 0 || now - this.renewedAt < this.settings.leaseMs / 3) return;
    const leases = [...this.runs.values()].map(({ lease }) => lease);
    const held = await this.leases.renew(leases, this.order());
    this.renewedAt = now;
    for (const lease of leases) if (!held.includes(lease)) this.runs.get(lease.id)?.stop();
  }

  private async take(): Promise<void> {
    const most = MAX_CAMPAIGNS - this.runs.size;
    if (most <= 0) return;
    for (const lease of await this.leases.take(this.order(), most)) {
      this.runs.get(lease.id)?.stop();
      const run = new CampaignRun(lease, this.context);
      this.runs.set(lease.id, run);
      void run.ended.then(() => {
        if (this.runs.get(lease.id) === run) this.runs.delete(lease.id);
      });
    }
  }

  private order() {
    return { owner: this.owner, now: this.clock.now(), leaseMs: this.settings.leaseMs };
  }

  private report(error: unknown): void {
    this.log.warn('Campaigns could not be looked after.', { code: faultCode(error) }, ` ${reasonOf(error)}`);
  }
}
