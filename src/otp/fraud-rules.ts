import { countryOf } from '../common/phone-numbers/phone-number.js';
import { phoneOf, spellingsOf } from '../common/phone-numbers/phone-spellings.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../common/time.js';
import type { PolicyRecord } from '../outbox/policy/send-policy.js';
import { longestOf, type OtpWindow, opensAt, type TimeLog, withOneMore } from './challenge.js';
import type { OtpBinding } from './otp-codes.js';
import type { CountryBreaker, ResolvedLimits } from './otp-limits.js';
import { RecordKeys } from './record-keys.js';

/** The configured rules on sends, besides the limits of one service and number. */
export function rulesFor(binding: OtpBinding, limits: ResolvedLimits): readonly SendRule[] {
  const { sends, cooldownSeconds, sendsPerNumber, sendsEverywhere, prefixBreaker, countryBreaker, spendPerDay } =
    limits;
  const keys = new RecordKeys(binding);
  const rules: SendRule[] = [];
  // Each spelling has a code of its own, which counts its sends; together they must not pass the limit of one.
  const isSpelled = spellingsOf(binding.number).length > 1;
  if (isSpelled && sends.length > 0) rules.push(logRule('sends', keys.spelled, sends));
  if (isSpelled && cooldownSeconds > 0) rules.push(cooldownRule(keys.cooldown, cooldownSeconds));
  if (sendsPerNumber.length > 0) rules.push(logRule('sends_per_number', keys.sends, sendsPerNumber));
  if (sendsEverywhere.length > 0) rules.push(logRule('sends_everywhere', keys.everywhere, sendsEverywhere));
  if (prefixBreaker) rules.push(prefixRule(keys.prefix(phoneOf(binding.number).slice(0, -4)), prefixBreaker));
  if (countryBreaker) rules.push(countryRule(keys.country(countryOf(binding.number) ?? ''), countryBreaker));
  if (spendPerDay !== false) rules.push(spendRule(keys.spend, spendPerDay));
  return rules;
}

/** At most so many sends in each window. */
function logRule(name: OtpRule, key: string, windows: readonly OtpWindow[]): SendRule<{ sent: TimeLog }> {
  return {
    name,
    key,
    opensAt: (state, { now }) => opensAt(state?.sent ?? [], windows, now),
    afterSend: (state, { now }) => ({
      state: { sent: withOneMore(state?.sent ?? [], windows, now) },
      expiresAt: now + longestOf(windows),
    }),
  };
}

/** One send in the cooldown, unless the number was verified since. */
function cooldownRule(key: string, seconds: number): SendRule<{ sent: TimeLog }> {
  const rule = logRule('cooldown', key, [{ count: 1, seconds }]);
  return { ...rule, afterSuccess: (_, __, now) => ({ state: { sent: [] }, expiresAt: now + seconds * 1000 }) };
}

/** The unverified numbers of one prefix, each with the time of its last code. */
interface Unverified {
  readonly numbers: Readonly<Record<string, number>>;
}

/** At most `count` distinct numbers of one prefix may be unverified; a number that is among them may get further codes. */
function prefixRule(key: string, window: OtpWindow): SendRule<Unverified> {
  const length = window.seconds * 1000;
  const recent = (state: Unverified | undefined, now: number, except: string) =>
    Object.entries(state?.numbers ?? {}).filter(([number, at]) => number !== except && at > now - length);
  const keep = (numbers: readonly (readonly [string, number])[], now: number) => ({
    state: { numbers: Object.fromEntries(numbers) },
    expiresAt: now + length,
  });
  return {
    name: 'prefix_breaker',
    key,
    opensAt(state, { number, now }) {
      if ((state?.numbers[number] ?? Number.NEGATIVE_INFINITY) > now - length) return now;
      const times = recent(state, now, number).map(([, at]) => at);
      return opensAt(
        times.sort((a, b) => a - b),
        [window],
        now,
      );
    },
    afterSend: (state, { number, now }) => keep([...recent(state, now, number), [number, now]], now),
    afterSuccess: (state, number, now) => keep(recent(state, now, number), now),
  };
}

/** The longest window of a prefix, in milliseconds: 90 days. */
const MAX_PREFIX_MS = 90 * DAY_MS;

/** A record of `prefixRule` without a number; undefined when it does not have the number. */
export function withoutNumber(
  state: object,
  number: string,
): (Pick<PolicyRecord, 'expiresAt'> & { readonly state: Unverified }) | undefined {
  const { numbers = {} }: Partial<Unverified> = state;
  if (!Object.hasOwn(numbers, number)) return undefined;
  const left = Object.entries(numbers).filter(([each]) => each !== number);
  // Its window is not known here; a record that stays too long has no effect.
  const expiresAt = Math.max(0, ...left.map(([, at]) => at)) + MAX_PREFIX_MS;
  return { state: { numbers: Object.fromEntries(left) }, expiresAt };
}

/** Numbers of new and of verified codes, by minute. */
interface Tally {
  readonly minutes: readonly (readonly [minute: number, created: number, verified: number])[];
}

/** Refuses a country while the past hour has `codes` or more new codes, and too few of them verified. */
function countryRule(key: string, { codes, verifiedPercent }: CountryBreaker): SendRule<Tally> {
  const recent = (state: Tally | undefined, now: number) =>
    (state?.minutes ?? []).filter(([minute]) => (minute + 1) * MINUTE_MS > now - HOUR_MS);
  const count = (state: Tally | undefined, now: number, created: number, verified: number) => {
    const minute = Math.floor(now / MINUTE_MS);
    const minutes = recent(state, now);
    const [, createdBefore, verifiedBefore] = minutes.find(([at]) => at === minute) ?? [minute, 0, 0];
    const others = minutes.filter(([at]) => at !== minute);
    return {
      state: { minutes: [...others, [minute, createdBefore + created, verifiedBefore + verified] as const] },
      expiresAt: now + HOUR_MS + MINUTE_MS,
    };
  };
  return {
    name: 'country_breaker',
    key,
    opensAt(state, { now }) {
      const minutes = recent(state, now);
      const created = minutes.reduce((sum, minute) => sum + minute[1], 0);
      const verified = minutes.reduce((sum, minute) => sum + minute[2], 0);
      if (created < codes || verified * 100 >= created * verifiedPercent) return now;
      // A lower bound: nothing changes before the oldest minute is more than an hour old.
      return Math.min((Math.min(...minutes.map(([minute]) => minute)) + 1) * MINUTE_MS, now) + HOUR_MS;
    },
    afterSend: (state, { fresh, now }) => count(state, now, fresh ? 1 : 0, 0),
    afterSuccess: (state, _, now) => count(state, now, 0, 1),
  };
}

/** Units spent on one day (UTC). */
interface Spending {
  /** Days since the epoch. */
  readonly day: number;
  readonly units: number;
}

/** At most so many units a day. */
function spendRule(key: string, most: number): SendRule<Spending> {
  const spentOn = (state: Spending | undefined, day: number) => (state?.day === day ? state.units : 0);
  return {
    name: 'spend_cap',
    key,
    opensAt(state, { units, now }) {
      const day = Math.floor(now / DAY_MS);
      return spentOn(state, day) + units > most ? (day + 1) * DAY_MS : now;
    },
    afterSend(state, { units, now }) {
      const day = Math.floor(now / DAY_MS);
      return { state: { day, units: spentOn(state, day) + units }, expiresAt: (day + 1) * DAY_MS };
    },
  };
}

/** The rule that refused a code; `country` is the list of allowed countries, the others are limits. */
export type OtpRule =
  | 'country'
  | 'cooldown'
  | 'sends'
  | 'sends_per_number'
  | 'sends_everywhere'
  | 'prefix_breaker'
  | 'country_breaker'
  | 'spend_cap';

/** The send of a code, as rules see it. */
export interface CodeSend {
  readonly number: string;
  readonly units: number;
  /** False: a pending code is sent again. */
  readonly fresh: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** One limit on sends, with its state in a record of its own. All functions are pure. */
export interface SendRule<S extends object = object> {
  readonly name: OtpRule;
  /** The key of its record. */
  readonly key: string;
  /** The earliest time at which the send is allowed, the send's `now` or later. Milliseconds since the epoch. */
  opensAt(state: S | undefined, send: CodeSend): number;
  /** The record after the send. */
  afterSend(state: S | undefined, send: CodeSend): Pick<PolicyRecord, 'expiresAt'> & { readonly state: S };
  /** The record after the number was verified; undefined when the rule does not depend on it. */
  afterSuccess?(
    state: S | undefined,
    number: string,
    now: number,
  ): Pick<PolicyRecord, 'expiresAt'> & { readonly state: S };
}
