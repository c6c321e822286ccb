import { countryOf } from '../common/phone-numbers/phone-number.js';
import { phoneOf, spellingsOf } from '../common/phone-numbers/phone-spellings.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../common/time.js';
import type { CodeRule } from '../events/events.api.js';
import type { PolicyRecord } from '../outbox/policy/send-policy.js';
import { longestOf, type OtpWindow, opensAt, type TimeLog, withOneMore } from './challenge.js';
import type { OtpBinding } from './otp-codes.js';
import type { CountryBreaker, ResolvedLimits } from './otp-limits.js';
import { RecordKeys } from './record-keys.js';

/** Returns the configured rules on sends. The limits of one service and number are not among them. */
export function rulesFor(binding: OtpBinding, limits: ResolvedLimits): readonly SendRule[] {
  const { sends, cooldownSeconds, sendsPerNumber, sendsEverywhere, prefixBreaker, countryBreaker, spendPerDay } =
    limits;
  const keys = new RecordKeys(binding);
  const rules: SendRule[] = [];
  // Each spelling of the number has its own code, which counts its own sends. All spellings together must keep the limit of one
  // number.
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

/**
 * Returns the rules on codes that another system has made (log-in hooks). Nobody reports whether such a code was verified, so the
 * breakers, which count verified codes, are not among them.
 * @param binding its service is the id of the hook
 * @param dailyUnits how many units the hook may spend in a day; null: no limit of its own
 */
export function outsideRules(
  binding: OtpBinding,
  limits: ResolvedLimits,
  dailyUnits: number | null,
): readonly SendRule[] {
  const { sends, cooldownSeconds, sendsPerNumber, sendsEverywhere, spendPerDay } = limits;
  const keys = new RecordKeys(binding);
  const rules: SendRule[] = [];
  if (sends.length > 0) rules.push(logRule('sends', keys.spelled, sends));
  if (cooldownSeconds > 0) rules.push(cooldownRule(keys.cooldown, cooldownSeconds));
  if (sendsPerNumber.length > 0) rules.push(logRule('sends_per_number', keys.sends, sendsPerNumber));
  if (sendsEverywhere.length > 0) rules.push(logRule('sends_everywhere', keys.everywhere, sendsEverywhere));
  if (spendPerDay !== false) rules.push(spendRule(keys.spend, spendPerDay));
  if (dailyUnits !== null) rules.push(spendRule(keys.hookSpend, dailyUnits));
  return rules;
}

/** Allows at most `count` sends in each window. */
function logRule(name: CodeRule, key: string, windows: readonly OtpWindow[]): SendRule<{ sent: TimeLog }> {
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

/** Allows one send per cooldown, unless the number was verified since the last send. */
function cooldownRule(key: string, seconds: number): SendRule<{ sent: TimeLog }> {
  const rule = logRule('cooldown', key, [{ count: 1, seconds }]);
  return { ...rule, afterSuccess: (_, __, now) => ({ state: { sent: [] }, expiresAt: now + seconds * 1000 }) };
}

/** The unverified numbers of one prefix, each with the time of its last code. */
interface Unverified {
  readonly numbers: Readonly<Record<string, number>>;
}

/**
 * Allows at most `count` distinct unverified numbers of one prefix. A number that is already among them may get further codes.
 */
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

/** Returns a record of `prefixRule` without a number, or undefined if the record does not have the number. */
export function withoutNumber(
  state: object,
  number: string,
): (Pick<PolicyRecord, 'expiresAt'> & { readonly state: Unverified }) | undefined {
  const { numbers = {} }: Partial<Unverified> = state;
  if (!Object.hasOwn(numbers, number)) return undefined;
  const left = Object.entries(numbers).filter(([each]) => each !== number);
  // This function does not know the rule's window, so it takes the longest. A record that stays too long has no effect.
  const expiresAt = Math.max(0, ...left.map(([, at]) => at)) + MAX_PREFIX_MS;
  return { state: { numbers: Object.fromEntries(left) }, expiresAt };
}

/** The counts of new codes and of verified codes, by minute. */
interface Tally {
  readonly minutes: readonly (readonly [minute: number, created: number, verified: number])[];
}

/** Refuses a country if the past hour has `codes` or more new codes and too few of them were verified. */
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
      // This is a lower bound: the counts do not change before the oldest minute is more than an hour old.
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

/** Allows at most `most` units a day. */
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

/** A send of a code, with the values that the rules need. */
export interface CodeSend {
  readonly number: string;
  readonly units: number;
  /** Whether the send creates a new code. False: it repeats a pending code. */
  readonly fresh: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A limit on sends. It keeps its state in its own record. All its functions are pure. */
export interface SendRule<S extends object = object> {
  readonly name: CodeRule;
  /** The key of the record with the rule's state. */
  readonly key: string;
  /** Returns the earliest time at which the send is allowed, in milliseconds since the epoch. It is the send's `now` or later. */
  opensAt(state: S | undefined, send: CodeSend): number;
  /** Returns the record after the send. */
  afterSend(state: S | undefined, send: CodeSend): Pick<PolicyRecord, 'expiresAt'> & { readonly state: S };
  /** Returns the record after the number was verified, or undefined if the verification does not change it. */
  afterSuccess?(
    state: S | undefined,
    number: string,
    now: number,
  ): Pick<PolicyRecord, 'expiresAt'> & { readonly state: S };
}
