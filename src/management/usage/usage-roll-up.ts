import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { pause } from '../../common/concurrency/async.js';
import { type RoundReport, Rounds } from '../../common/concurrency/rounds.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../common/time.js';
import { DispatchSettings } from '../../outbox/delivery/dispatch-options.js';
import { UsageStore } from './usage-store.js';

/** The time between two rounds, in milliseconds. */
const EVERY_MS = 5 * MINUTE_MS;

/** How long after its end an hour is rolled up, in milliseconds. By then most transactions of the hour have committed. */
const LAG_MS = 10 * MINUTE_MS;

/**
 * How often hours are compared with the ledger, and for how long, in milliseconds. Entries that a host's transaction commits even
 * later do not count.
 */
const VERIFY_EVERY_MS = HOUR_MS;
const VERIFIED_MS = 3 * DAY_MS;

/** How many accounts one query reads. */
const AT_A_TIME = 200;

/**
 * Rolls up the usage of accounts from the ledger, in the background. It runs in every process that delivers, and these processes
 * share the accounts. After each step it pauses for as long as the step took, so that it never uses more than half of the
 * database's time.
 */
@Injectable()
export class UsageRollUp implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private cancel: () => void = () => undefined;
  private running: Promise<void> = Promise.resolve();
  private report: RoundReport | undefined;
  /** When hours were last compared with the ledger, by the clock's `elapsed`. */
  private verified = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly store: UsageStore,
    private readonly settings: DispatchSettings,
    private readonly clock: Clock,
    private readonly rounds: Rounds,
  ) {}

  onApplicationBootstrap(): void {
    if (this.settings.role === 'api') return;
    this.report = this.rounds.start('roll up usage', { everyMs: EVERY_MS, isUpkeep: true });
    this.schedule();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.report?.stopped();
    this.stopping.abort();
    this.cancel();
    await this.running;
  }

  private schedule(): void {
    if (this.stopping.signal.aborted) return;
    this.cancel = this.clock.after(EVERY_MS, () => {
      this.running = this.round().then(() => this.schedule());
    });
  }

  private async round(): Promise<void> {
    try {
      const [now, elapsed] = [this.clock.now(), this.clock.elapsed()];
      const verifies = elapsed - this.verified >= VERIFY_EVERY_MS;
      const ended = now - LAG_MS - ((now - LAG_MS) % HOUR_MS);
      const verifyFrom = verifies ? ended - VERIFIED_MS : undefined;
      const { signal } = this.stopping;
      for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
        const began = this.clock.elapsed();
        after = (await this.store.rollUp({ now, until: ended, verifyFrom, after, limit: AT_A_TIME, signal })).next;
        if (after !== undefined) await pause(this.clock, Math.max(this.clock.elapsed() - began, 1), signal);
      }
      if (verifies) this.verified = elapsed;
      this.report?.ended();
    } catch (error) {
      const sentence = `Usage could not be rolled up: ${nameOf(error)}. The next round tries again.`;
      faultLog('Usage', this.clock).warn(sentence, { code: faultCode(error) });
    }
  }
}
