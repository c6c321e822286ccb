/** Lengths of time in milliseconds. A calendar day in UTC always has `DAY_MS`. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

let lastMoment = Number.NaN;
let lastText = '';

/** A moment as ISO 8601 text. The last text is kept, because what happens at the same time often has the same moment. */
export function isoText(at: number): string {
  if (at !== lastMoment) {
    lastText = new Date(at).toISOString();
    lastMoment = at;
  }
  return lastText;
}
