import type { OtpWindow } from './challenge.js';

/** The chance, 0 to 1, that somebody who tries as often as the options allow guesses a code of one number. */
export interface GuessChance {
  readonly perCode: number;
  readonly perDay: number;
  /** Of 30 days. */
  readonly perMonth: number;
}

/** What the chance depends on. */
export interface GuessRules {
  readonly digits: number;
  readonly triesPerCode: number;
  /** Wrong tries that lock verifying. */
  readonly wrongTries: readonly OtpWindow[];
}

const DAY = 86_400;

/**
 * Chances for one (account, number) until its next success. Sends do not bound them: their limits are per service, and a
 * service is any text. Tries at one code are different codes; tries at different codes are independent.
 */
export function guessChance({ digits, triesPerCode, wrongTries }: GuessRules): GuessChance {
  const codes = 10 ** digits;
  const chanceOf = (guesses: number) => (guesses === Infinity ? 1 : 1 - (1 - 1 / codes) ** guesses);
  return {
    perCode: Math.min(1, triesPerCode / codes),
    perDay: chanceOf(guessesIn(DAY, wrongTries)),
    perMonth: chanceOf(guessesIn(30 * DAY, wrongTries)),
  };
}

/** The most wrong tries that all windows together allow in a stretch of so many seconds. */
export function guessesIn(seconds: number, windows: readonly OtpWindow[]): number {
  return Math.min(Infinity, ...windows.map((window) => window.count * Math.ceil(seconds / window.seconds)));
}

/** The chance in a sentence for the log. */
export function describeChance({ perCode, perDay, perMonth }: GuessChance): string {
  return `Chance of guessing a code: ${percent(perCode)} per code, ${percent(perDay)} a day, ${percent(perMonth)} in 30 days (per account and number, until the next success).`;
}

function percent(chance: number): string {
  return `${Number((chance * 100).toPrecision(2))} %`;
}
