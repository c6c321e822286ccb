import { countryOf } from '../common/phone-number.js';
import type { PolicyRecord } from '../outbox/send-policy.js';
import { longestOf, type OtpWindow, opensAt, type TimeLog, withOneMore } from './challenge.js';
import type { OtpBinding } from './otp-codes.js';
import type { CountryBreaker, ResolvedLimits } from './otp-limits.js';
import { RecordKeys } from './record-keys.js';

/** The limits on sends beyond those of one service and number, as far as they are switched on. */
export function rulesFor(binding: OtpBinding, limits: ResolvedLimits): readonly SendRule[] {
  const { sendsPerNumber, sendsEverywhere, prefixBreaker, countryBreaker, spendPerDay } = limits;
  const keys = new RecordKeys(binding);
  const rules: SendRule[] = [];
  if (sendsPerNumber.length > 0) rules.push(logRule('sends_per_number', keys.sends, sendsPerNumber));
  if (sendsEverywhere.length > 0) rules.push(logRule('sends_everywhere', keys.everywhere, sendsEverywhere));
  if (prefixBreaker) rules.push(prefixRule(keys.prefix(binding.number.slice(0, -4)), prefixBreaker));
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

/** Numbers of one prefix that wait to be verified, each with the time of its last code. */
interface Unverified {
  readonly numbers: Readonly<Record<string, number>>;
}

/** At most `count` distinct numbers of one prefix may wait to be verified; one that already does may have its code again. */
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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Codes made and codes verified, minute by minute. */
interface Tally {
  readonly minutes: readonly (readonly [minute: number, made: number, verified: number])[];
}

/** Stops a country while the hour before has many codes and few of them verified. */
function countryRule(key: string, { codes, verifiedPercent }: CountryBreaker): SendRule<Tally> {
  const recent = (state: Tally | undefined, now: number) =>
    (state?.minutes ?? []).filter(([minute]) => (minute + 1) * MINUTE > now - HOUR);
  const count = (state: Tally | undefined, now: number, made: number, verified: number) => {
    const minute = Math.floor(now / MINUTE);
    const minutes = recent(state, now);
    const [, madeBefore, verifiedBefore] = minutes.find(([at]) => at === minute) ?? [minute, 0, 0];
    const others = minutes.filter(([at]) => at !== minute);
    return {
      state: { minutes: [...others, [minute, madeBefore + made, verifiedBefore + verified] as const] },
      expiresAt: now + HOUR + MINUTE,
    };
  };
  return {
    name: 'country_breaker',
    key,
    opensAt(state, { now }) {
      const minutes = recent(state, now);
      const made = minutes.reduce((sum, minute) => sum + minute[1], 0);
      const verified = minutes.reduce((sum, minute) => sum + minute[2], 0);
      if (made < codes || verified * 100 >= made * verifiedPercent) return now;
      // It may take longer; the next minute that leaves the hour is the first that can change something.
      return Math.min((Math.min(...minutes.map(([minute]) => minute)) + 1) * MINUTE, now) + HOUR;
    },
    afterSend: (state, { fresh, now }) => count(state, now, fresh ? 1 : 0, 0),
    afterSuccess: (state, _, now) => count(state, now, 0, 1),
  };
}

const DAY = 24 * HOUR;

/** Units spent on one day, counted from the epoch, UTC. */
interface Spending {
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
      const day = Math.floor(now / DAY);
      return spentOn(state, day) + units > most ? (day + 1) * DAY : now;
    },
    afterSend(state, { units, now }) {
      const day = Math.floor(now / DAY);
      return { state: { day, units: spentOn(state, day) + units }, expiresAt: (day + 1) * DAY };
    },
  };
}

/** Which rule stood in the way of a code; `country` is the list of allowed countries, the others are limits. */
export type OtpRule =
  | 'country'
  | 'cooldown'
  | 'sends'
  | 'sends_per_number'
  | 'sends_everywhere'
  | 'prefix_breaker'
  | 'country_breaker'
  | 'spend_cap';

/** The send of a code that rules judge. */
export interface CodeSend {
  readonly number: string;
  readonly units: number;
  /** False: a code that is pending is sent once more. */
  readonly fresh: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** One limit on sends with what it remembers, in a record of its own. Pure. */
export interface SendRule<S extends object = object> {
  readonly name: OtpRule;
  /** Its record. */
  readonly key: string;
  /** When the send may happen: at its `now`, or later. Milliseconds since the epoch. */
  opensAt(state: S | undefined, send: CodeSend): number;
  /** What is remembered of the send. */
  afterSend(state: S | undefined, send: CodeSend): Pick<PolicyRecord, 'expiresAt'> & { readonly state: S };
  /** What is remembered after the number was verified; left out: nothing of it matters. */
  afterSuccess?(
    state: S | undefined,
    number: string,
    now: number,
  ): Pick<PolicyRecord, 'expiresAt'> & { readonly state: S };
}
