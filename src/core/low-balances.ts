import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { LedgerStore } from '../billing/ledger-store.js';
import { Clock } from '../common/clock.js';
import { type RoundReport, Rounds } from '../common/concurrency/rounds.js';
import { type FaultLog, faultCode, faultLog, nameOf } from '../common/log.js';
import { EventPublisher } from '../events/event-publisher.js';
import { DispatchSettings } from '../outbox/delivery/dispatch-options.js';

/** The time between two searches for accounts whose balance has fallen below their threshold, in milliseconds. */
const EVERY_MS = 1000;
/** The maximum number of accounts in one transaction. */
const AT_A_TIME = 100;

/**
 * Publishes `balance.low`. The events are recorded after the transactions that made balances low, because these must
 * not wait for the event log. Every process that delivers does this; a lock makes sure that each account is handled by
 * one of them.
 */
@Injectable()
export class LowBalances implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log: FaultLog;
  private cancel: () => void = () => undefined;
  private round: Promise<void> = Promise.resolve();
  private stopped = false;
  private report: RoundReport | undefined;

  constructor(
    private readonly store: LedgerStore,
    private readonly events: EventPublisher,
    private readonly settings: DispatchSettings,
    private readonly clock: Clock,
    private readonly rounds: Rounds,
  ) {
    this.log = faultLog('Balances', clock);
  }

  onApplicationBootstrap(): void {
    if (this.settings.role === 'api') return;
    this.report = this.rounds.start('low balances', { everyMs: EVERY_MS });
    this.schedule();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    this.report?.stopped();
    this.cancel();
    await this.round;
  }

  private schedule(): void {
    if (this.stopped) return;
    this.cancel = this.clock.after(EVERY_MS, () => {
      this.round = this.publishLow().then(() => this.schedule());
    });
  }

  private async publishLow(): Promise<void> {
    try {
      let published = AT_A_TIME;
      while (published === AT_A_TIME && !this.stopped) {
        const events = await this.store.publishLow(this.clock.now(), AT_A_TIME);
        this.events.publish(events);
        published = events.length;
      }
      this.report?.ended();
    } catch (error) {
      const code = faultCode(error);
      this.log.warn(`Low balances could not be published: ${nameOf(error)}. The next round tries again.`, { code });
    }
  }
}
