import { retryAfterMs } from '../../common/retry-after.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../common/time.js';

/** The waits after the first call that failed, after the second, and so on; each is made up to a fifth shorter or longer. */
const WAITS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
];
const JITTER = 0.2;

/** How long an endpoint may do nothing but fail before it is disabled, in milliseconds. */
export const FAILING_MS = 72 * HOUR_MS;

/** The longest rest that an endpoint may ask for, in milliseconds. */
const MAX_REST = HOUR_MS;

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

/** How long an answer asks to be left alone, in milliseconds, at most an hour; undefined if it does not ask. */
export function restOf(status: number | undefined, retryAfter: string | undefined, now: number): number | undefined {
  const ms = status === 429 || status === 503 ? (retryAfterMs(retryAfter, now) ?? 0) : 0;
  return ms > 0 ? Math.min(ms, MAX_REST) : undefined;
}
