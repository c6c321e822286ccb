/** Formats a moment (milliseconds since the epoch) as answers contain it: ISO 8601, UTC. Null if there is no moment. */
export function isoOf(at: number): string;
export function isoOf(at: number | null | undefined): string | null;
export function isoOf(at: number | null | undefined): string | null {
  return at == null ? null : new Date(at).toISOString();
}
