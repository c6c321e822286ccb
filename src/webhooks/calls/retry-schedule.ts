import { retryAfterMs } from '../../common/retry-after.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../common/time.js';
import type { EndpointOrdering } from '../endpoints/endpoint.api.js';

/** The waits after the first failed call, after the second, and so on. Each wait is made up to a fifth shorter or longer. */
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

/** For how long all calls of an endpoint may fail before it is disabled, in milliseconds. */
export const FAILING_MS = 72 * HOUR_MS;

/** The longest pause that an endpoint may ask for, in milliseconds. */
const MAX_REST = HOUR_MS;

/**
 * Returns the wait before the next call of an event, in milliseconds, or undefined after the last call. With `strict` order no
 * event is skipped, so there is always a next call. It then comes after a day.
 *
 * @param tries how many calls were made so far, 1 or more
 * @param random in [0, 1)
 */
export function retryWait(tries: number, ordering: EndpointOrdering, random: number): number | undefined {
  const wait = WAITS[tries - 1] ?? (ordering === 'strict' ? WAITS.at(-1) : undefined);
  return wait === undefined ? undefined : Math.round(wait * (1 - JITTER + 2 * JITTER * random));
}

/** Returns how long a response asks us to pause, in milliseconds, at most an hour. Undefined if it does not ask. */
export function restOf(status: number | undefined, retryAfter: string | undefined, now: number): number | undefined {
  const ms = status === 429 || status === 503 ? (retryAfterMs(retryAfter, now) ?? 0) : 0;
  return ms > 0 ? Math.min(ms, MAX_REST) : undefined;
}
