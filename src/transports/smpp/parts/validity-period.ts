const SHORTEST_S = 60;
const LONGEST_S = 30 * 86_400;

/**
 * How long the carrier may go on trying, as a relative time `YYMMDDhhmmss000R` (SMPP 3.4 section 7.1.1.2): at least a
 * minute, since many count in minutes, and at most 30 days.
 *
 * @param expiresAt milliseconds since the epoch; undefined: as long as the carrier likes
 */
export function validityPeriod(expiresAt: number | undefined, now: number): string {
  if (expiresAt === undefined) return '';
  const seconds = Math.min(Math.max(Math.floor((expiresAt - now) / 1000), SHORTEST_S), LONGEST_S);
  const fields = [0, 0, Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  return `${[...fields, seconds % 60].map((field) => String(field).padStart(2, '0')).join('')}000R`;
}
