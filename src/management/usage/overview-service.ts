import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { isAccountId } from '../../common/inputs.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import { DAY_MS } from '../../common/time.js';
import { Channels } from '../../outbox/channel.js';
import type { AttentionView, OverviewView } from './overview.api.js';
import { type AccountStanding, OverviewStore } from './overview-store.js';

/** How many recipients are counted on each channel and of each kind. More would make the answer slow. */
export const MAX_COUNTED = 10_000;

/** How long an answer is used for all callers, in milliseconds, because many people may look at the same account. */
const FRESH_MS = 5000;

/** For how many accounts answers are kept. */
const KEPT = 1000;

/**
 * Reads the overview of an account, which its people look at first: the balance, today compared with last week, the oldest
 * waiting message, and facts that need attention. Callers may ask often, because every query is limited and an answer is used for
 * five seconds.
 */
@Injectable()
export class OverviewService {
  private readonly kept = new Map<string, { readonly at: number; readonly view: Promise<OverviewView> }>();

  constructor(
    private readonly store: OverviewStore,
    private readonly channels: Channels,
    private readonly clock: Clock,
  ) {}

  /** @throws MessagingError `error.account_not_found` */
  async overview(accountId: string): Promise<OverviewView> {
    const elapsed = this.clock.elapsed();
    const before = this.kept.get(accountId);
    if (before && elapsed - before.at < FRESH_MS) return before.view;
    const view = this.read(accountId);
    this.kept.delete(accountId);
    this.kept.set(accountId, { at: elapsed, view });
    const [oldest] = this.kept.keys();
    if (this.kept.size > KEPT && oldest !== undefined) this.kept.delete(oldest);
    view.catch(() => this.kept.delete(accountId));
    return view;
  }

  private async read(accountId: string): Promise<OverviewView> {
    const standing = isAccountId(accountId) ? await this.store.standing(accountId) : undefined;
    if (!standing) throw new MessagingError('error.account_not_found');
    const now = this.clock.now();
    const channels = this.channels.all().map(({ name }) => name);
    const midnight = now - (now % DAY_MS);
    const count = (daysAgo: number) => {
      const [since, until] = [midnight - daysAgo * DAY_MS, now + 1 - daysAgo * DAY_MS];
      return this.store.statuses({ accountId, channels, since, until, most: MAX_COUNTED });
    };
    const [today, lastWeek] = [await count(0), await count(7)];
    const waiting = await this.store.oldestWaiting(accountId, channels, now);
    const facts = await this.store.attention(accountId, channels, now);
    return {
      balance: standing.balance,
      oldest_waiting: isoOf(waiting),
      today: today.counts,
      last_week: lastWeek.counts,
      capped: { today: !today.isComplete, last_week: !lastWeek.isComplete },
      attention: [...lowBalance(standing), ...facts.map((fact) => ({ ...fact, at: isoOf(fact.at) }))],
    };
  }
}

function lowBalance({ balance, lowBelow }: AccountStanding): readonly AttentionView[] {
  return lowBelow !== undefined && balance < lowBelow
    ? [{ kind: 'balance_low', target: String(lowBelow), at: null }]
    : [];
}
