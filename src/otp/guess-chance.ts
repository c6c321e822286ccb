import { DAY_MS, SECOND_MS } from '../common/time.js';
import type { OtpWindow } from './challenge.js';

/** The probability, 0 to 1, that an attacker guesses a code of one number if he tries as often as the options allow. */
export interface GuessChance {
  readonly perCode: number;
  readonly perDay: number;
  /** In 30 days. */
  readonly perMonth: number;
}

/** The options that the chance depends on. */
interface GuessRules {
  readonly digits: number;
  readonly triesPerCode: number;
  /** How many wrong tries lock the verification. */
  readonly wrongTries: readonly OtpWindow[];
}

const DAY_SECONDS = DAY_MS / SECOND_MS;

/**
 * Returns the chances for one account and number until its next success. Limits on sends do not reduce the chances, because they
 * apply to a service, and an attacker may use any number of service names. The calculation assumes that all tries of one code are
 * different values and that tries of different codes are independent.
 */
export function guessChance({ digits, triesPerCode, wrongTries }: GuessRules): GuessChance {
  const codes = 10 ** digits;
  const chanceOf = (guesses: number) => (guesses === Infinity ? 1 : 1 - (1 - 1 / codes) ** guesses);
  return {
    perCode: Math.min(1, triesPerCode / codes),
    perDay: chanceOf(guessesIn(DAY_SECONDS, wrongTries)),
    perMonth: chanceOf(guessesIn(30 * DAY_SECONDS, wrongTries)),
  };
}

/** Returns how many wrong tries all windows together allow in a period of so many seconds. */
export function guessesIn(seconds: number, windows: readonly OtpWindow[]): number {
  return Math.min(Infinity, ...windows.map((window) => window.count * Math.ceil(seconds / window.seconds)));
}

/** Returns the chance as a sentence for the log. */
export function describeChance({ perCode, perDay, perMonth }: GuessChance): string {
  return `Chance of guessing a code: ${percent(perCode)} per code, ${percent(perDay)} a day, ${percent(perMonth)} in 30 days (per account and number, until the next success).`;
}

function percent(chance: number): string {
  return `${Number((chance * 100).toPrecision(2))} %`;
}
