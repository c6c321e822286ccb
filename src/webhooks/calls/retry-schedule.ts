const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits after the first call that failed, after the second, and so on; each is made up to a fifth shorter or longer. */
const WAITS = [
  ...[5 * SECOND, 30 * SECOND, 2 * MINUTE, 15 * MINUTE, HOUR],
  ...[3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 24 * HOUR],
];
const JITTER = 0.2;

/** How long an endpoint may do nothing but fail before it is disabled, in milliseconds. */
export const FAILING_MS = 72 * HOUR;

/** The longest rest that an endpoint may ask for, in milliseconds. */
const MAX_REST = HOUR;

/**
 * The wait before the next call of an event, in milliseconds; undefined after the last. Under `strict` order there is no last
 * one, because nothing is skipped: then a day.
 *
 * @param tries calls so far, 1 or more
 * @param random in [0, 1)
 */
export function retryWait(tries: number, ordering: 'none' | 'strict', random: number): number | undefined {
  const wait = WAITS[tries - 1] ?? (ordering === 'strict' ? WAITS.at(-1) : undefined);
  return wait === undefined ? undefined : Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}

/**
 * How long an answer asks to be left alone, in milliseconds, at most an hour; undefined where it does not. `Retry-After` is in
 * seconds or a date (RFC 9110 section 10.2.3).
 */
export function restOf(status: number | undefined, retryAfter: string | undefined, now: number): number | undefined {
  if ((status !== 429 && status !== 503) || retryAfter === undefined) return undefined;
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now;
  return ms > 0 ? Math.min(ms, MAX_REST) : undefined;
}
