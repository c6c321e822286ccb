import type { ReconnectSettings } from '../smpp-settings.js';

/**
 * How long to wait before connecting again, in milliseconds: anything from 0 to a ceiling that doubles with each failure
 * (full jitter, so that links that fell together do not come back together).
 *
 * @param failures how many in a row before this wait, from 0
 * @param random in [0, 1)
 */
export function reconnectDelay({ firstMs, longestMs }: ReconnectSettings, failures: number, random: number): number {
  return Math.round(random * Math.min(longestMs, firstMs * 2 ** Math.min(failures, 30)));
}

/** After a refusal that only a change of configuration can cure: always in the upper half of the longest wait. */
export function patientDelay({ longestMs }: ReconnectSettings, random: number): number {
  return Math.round((longestMs / 2) * (1 + random));
}
