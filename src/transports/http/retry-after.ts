/**
 * What a `Retry-After` header asks for, in milliseconds from `now`: seconds or an HTTP date (RFC 9110 section 10.2.3).
 * Undefined without a readable one.
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
