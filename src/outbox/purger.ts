import {
  type FactoryProvider,
  Injectable,
  type InjectionToken,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { type RoundReport, Rounds } from '../common/concurrency/rounds.js';
import { type FaultLog, faultCode, faultLog } from '../common/log.js';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../common/time.js';
import { dayOf } from './accept/decide.js';
import { Outbox } from './outbox.js';
import { OutboxStore } from './outbox-store.js';
import { PolicyStore } from './policy/policy-store.js';

/** Defines which items are removed from the storage in the background, and when. */
export interface PurgeRule {
  /** The name of the removed items in the log. A rule replaces an earlier one of the same name. */
  readonly what: string;
  /** How long an item is kept after the time that `purge` compares, in milliseconds. Default 0. */
  readonly keepMs?: number;
  /** Time between two rounds, in milliseconds. Default 600 000. */
  readonly everyMs?: number;
  /**
   * The maximum number of items that one call of `purge` removes. If a call takes long, the next ones are smaller.
   * Default 1000.
   */
  readonly batchSize?: number;
  /** The size of a round's first batch. Default `batchSize`. */
  readonly firstSize?: number;
  /**
   * Removes at most `limit` items that ended before `before`, milliseconds since the epoch.
   * @returns the number of removed items. If it is `limit` or more, there may be others, and another call follows
   */
  readonly purge: (before: number, limit: number) => Promise<number>;
}

const EVERY_MS = 10 * MINUTE_MS;
const BATCH_SIZE = 1000;

/**
 * The time that a call of `purge` should take, in milliseconds. During a call, SQLite blocks the event loop, and other
 * databases keep locks. If a call takes longer, the next batch is half as large; if it takes less than half of this
 * time, the next one is twice as large. A batch is never smaller than `MIN_BATCH`, because on a busy machine most of
 * the time of a batch is waiting.
 */
const BATCH_MS = 10;
const MIN_BATCH = 32;

/**
 * Removes expired items, so that tables do not grow without bound. The rules come from the capabilities. Each rule runs
 * on its own, batch by batch. After each batch it pauses for as long as the batch took, so that it never uses more than
 * half of the database's time. A failed round is logged, and the next round repeats it.
 */
@Injectable()
export class Purger implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly log: FaultLog;
  private readonly rules = new Map<string, PurgeRule>();
  private readonly cancels = new Map<string, () => void>();
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly rounds: Rounds,
  ) {
    this.log = faultLog('Purge', clock);
  }

  /** Adds a rule, or replaces the one of the same name. Call it before the application has started. */
  add(rule: PurgeRule): void {
    this.rules.set(rule.what, rule);
  }

  onApplicationBootstrap(): void {
    for (const rule of this.rules.values()) {
      const { what, everyMs = EVERY_MS } = rule;
      this.schedule(rule, this.rounds.start(`purge ${what}`, { everyMs, isUpkeep: true }));
    }
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    for (const cancel of this.cancels.values()) cancel();
  }

  private schedule(rule: PurgeRule, report: RoundReport): void {
    const { what, everyMs = EVERY_MS } = rule;
    if (!this.stopped)
      this.cancels.set(
        what,
        this.clock.after(everyMs, () => void this.round(rule, report)),
      );
  }

  private async round(rule: PurgeRule, report: RoundReport): Promise<void> {
    const { what, keepMs = 0, batchSize = BATCH_SIZE, firstSize = batchSize, purge } = rule;
    try {
      let size = firstSize;
      while (!this.stopped) {
        const began = this.clock.elapsed();
        const removed = await purge(this.clock.now() - keepMs, size);
        report.ended();
        if (removed < size) break;
        const tookMs = this.clock.elapsed() - began;
        if (tookMs > BATCH_MS) size = Math.max(Math.ceil(size / 2), Math.min(size, MIN_BATCH));
        else if (tookMs < BATCH_MS / 2) size = Math.min(size * 2, batchSize);
        await this.rest(what, tookMs);
      }
    } catch (error) {
      this.log.warn(`Expired ${what} could not be purged. The next round tries again.`, { code: faultCode(error) });
    }
    this.schedule(rule, report);
  }

  private async rest(what: string, ms: number): Promise<void> {
    if (ms <= 0) await new Promise(setImmediate);
    // If the purger stops, the pause is cancelled, and this round never continues.
    else await new Promise<void>((resolve) => this.cancels.set(what, this.clock.after(ms, resolve)));
  }
}

/** Provides a rule over a store to the application's purger; a capability lists it among its providers. */
export function providePurge<S>(store: InjectionToken<S>, ruleOf: (store: S) => PurgeRule): FactoryProvider<void> {
  return {
    provide: Symbol(ruleOf.name),
    useFactory: (purger: Purger, target: S) => purger.add(ruleOf(target)),
    inject: [Purger, store],
  };
}

/** The rule for the replies of expired Idempotency-Keys. */
function replyPurge(store: OutboxStore): PurgeRule {
  return { what: 'replies', purge: (now, limit) => store.purgeReplies(now, limit) };
}

/** The rule for expired records of send policies. */
function policyPurge(store: PolicyStore): PurgeRule {
  return { what: 'policy records', purge: (now, limit) => store.purge(now, limit) };
}

/**
 * The rule for the units that keys with a cap have spent on earlier days. Yesterday is kept, because around midnight
 * the clocks of processes may show different days.
 */
function keySpendingPurge(store: OutboxStore): PurgeRule {
  return {
    what: 'daily units of keys',
    keepMs: 2 * DAY_MS,
    purge: (until, limit) => store.purgeKeySpending(dayOf(until), limit),
  };
}

/** How often waiting recipients are searched whose validity has ended, in milliseconds. */
const VALIDITY_MS = 5 * SECOND_MS;

/** The rule that fails recipients that nothing claims before the end of their validity, for example in a paused queue. */
function validityPurge(outbox: Outbox): PurgeRule {
  return {
    what: 'waiting recipients',
    everyMs: VALIDITY_MS,
    batchSize: 500,
    purge: async (now, limit) => ((await outbox.expireWaiting({ now, limit })) ? limit : 0),
  };
}

/** The purger and the rules of the outbox itself. */
export const PURGER = [
  Purger,
  providePurge(OutboxStore, replyPurge),
  providePurge(PolicyStore, policyPurge),
  providePurge(OutboxStore, keySpendingPurge),
  providePurge(Outbox, validityPurge),
];
