/** A moment, in milliseconds since the epoch, as answers have it: ISO 8601, UTC; null for none. */
export function isoOf(at: number): string;
export function isoOf(at: number | null | undefined): string | null;
export function isoOf(at: number | null | undefined): string | null {
  return at == null ? null : new Date(at).toISOString();
}
