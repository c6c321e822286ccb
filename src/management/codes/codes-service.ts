import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import type { Cancellation } from '../../common/concurrency/async.js';
import { MessagingError } from '../../common/errors.js';
import { checkAccountId, checkInput } from '../../common/inputs.js';
import { DAY_MS } from '../../common/time.js';
import { UNKNOWN_COUNTRY } from '../usage/usage-records.js';
import { rangeOf, type UsagePeriod } from '../usage/usage-service.js';
import { UsageStore } from '../usage/usage-store.js';
import type { CodesView } from './codes.api.js';

/** A period of whole days (UTC). */
export type CodesPeriod = Pick<UsagePeriod, 'since' | 'until'>;

/** Reads the statistics of an account's codes: by country how many were sent and verified, and why others were refused. */
@Injectable()
export class CodesService {
  constructor(
    private readonly store: UsageStore,
    private readonly clock: Clock,
  ) {}

  /**
   * @param signal ends the reading when it is aborted
   * @throws MessagingError `error.field_invalid`
   */
  async codes(accountId: string, period: CodesPeriod = {}, signal?: Cancellation): Promise<CodesView> {
    checkAccountId(accountId);
    checkInput(period);
    const now = this.clock.now();
    const { since, until } = rangeOf(period, now);
    for (const [field, moment] of Object.entries({ since, until })) {
      if (moment % DAY_MS !== 0) throw new MessagingError('error.field_invalid', { field });
    }
    const query = { accountId, since, until, groupBy: ['country'], onlyCodes: true, now, signal } as const;
    const sent = new Map(
      (await this.store.usage(query)).map(({ country, sends }) => [country ?? UNKNOWN_COUNTRY, sends]),
    );
    const counts = await this.store.codes(accountId, since, until);
    const verified = new Map(counts.flatMap(({ what, name, count }) => (what === 'verified' ? [[name, count]] : [])));
    const items = [...new Set([...sent.keys(), ...verified.keys()])].sort().map((country) => {
      const [all, good] = [sent.get(country) ?? 0, verified.get(country) ?? 0];
      return { country, sent: all, verified: good, conversion: all === 0 ? null : Math.min(good / all, 1) };
    });
    const refused = counts.filter(({ what }) => what === 'refused');
    return { items, refusals: refused.map(({ name, count }) => ({ reason: name, count })) };
  }
}
