/** Formats a time (milliseconds since the epoch) for answers: ISO 8601, UTC. Null if there is no time. */
export function isoOf(at: number): string;
export function isoOf(at: number | null | undefined): string | null;
export function isoOf(at: number | null | undefined): string | null {
  return at == null ? null : new Date(at).toISOString();
}
