// The client uses this file in browsers, so it imports nothing that needs Node.
import { SECOND_MS } from './time.js';

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`. The header has seconds or an HTTP date
 * (RFC 9110 section 10.2.3). Undefined without a valid header.
 *
 * @example `retryAfterMs('120', now)` is 120 000, and a date in the past gives 0.
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * SECOND_MS;
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
