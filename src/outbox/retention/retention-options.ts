import {
  any,
  formatValue,
  list,
  type Option,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
} from '../../common/options.js';
import { isStrongSecret, keyFor, SECRET_DISTINCT, SECRET_LENGTH } from '../../common/secret.js';
import { DAY_MS, HOUR_MS } from '../../common/time.js';

/**
 * How long sent messages are kept. Each option is a whole number of hours, days, weeks, months or years. Example:
 * `30 days`.
 */
export interface RetentionOptions {
  /** Texts, captions and file names, and the messages of the sandbox's phones. Default: kept. */
  readonly texts?: string | undefined;
  /** Recipients with their numbers and states. The message with its units stays, with masked numbers. Default: kept. */
  readonly messages?: string | undefined;
  /** The histories of deliveries: attempts and reports. Default: kept. */
  readonly trail?: string | undefined;
  /**
   * The secret of the HMAC that replaces a removed text, and the number in an opt-out of an erased number: at least 32
   * random characters, kept outside the database. Default none: nothing is kept of a removed text, and the opt-outs of
   * erased numbers keep their numbers.
   */
  readonly secret?: string | undefined;
  /**
   * Earlier values of `secret`, so that opt-outs of numbers that were erased with them are still respected. Default
   * none.
   */
  readonly previousSecrets?: readonly string[] | undefined;
}

/** `RetentionOptions` as services use them. Times in milliseconds; undefined: kept. */
export abstract class RetentionSettings {
  abstract readonly texts?: number | undefined;
  abstract readonly messages?: number | undefined;
  abstract readonly trail?: number | undefined;
  /** The keys of the HMAC, the present one first; empty without a secret. */
  abstract readonly keys: readonly Buffer[];
}

/** A month counts as 31 days and a year as 366, so that nothing is removed too early by the calendar. */
const UNITS: Readonly<Record<string, number>> = {
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 31 * DAY_MS,
  year: 366 * DAY_MS,
};

const MAX_MS = 100 * 366 * DAY_MS;

/** Reads a duration in words, as milliseconds. */
export const DURATION = any((given, place) => {
  const [, count = '', unit = ''] = /^(\d{1,6}) (hour|day|week|month|year)s?$/.exec(String(given)) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  if (typeof given === 'string' && ms > 0 && ms <= MAX_MS) return ms;
  return place.refuse(
    `must be a duration such as "30 days": a whole number, at least 1, of hours, days, weeks, months or years, at most 100 years; got ${formatValue(given)}`,
  );
});

/** Reads a secret, as its key for one purpose. */
export function secretOf(purpose: string): Option<Buffer> {
  return any((given, place) => {
    if (isStrongSecret(given)) return keyFor(purpose, given);
    return place.refuse(
      `is too weak: it must be at least ${SECRET_LENGTH} characters at random, ${SECRET_DISTINCT} of them different. Make one with "openssl rand -base64 48"`,
    );
  });
}

const SECRET = secretOf('retention');

/** Reads and checks `RetentionOptions`. */
export const RETENTION_OPTIONS = optionalGroup({
  texts: DURATION.or(undefined),
  messages: DURATION.or(undefined),
  trail: DURATION.or(undefined),
  secret: SECRET.or(undefined),
  previousSecrets: list(SECRET, 'secrets').or([]),
} satisfies OptionsOf<RetentionOptions>);

/**
 * Checks the options.
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveRetentionSettings(options?: RetentionOptions): RetentionSettings {
  const place = new OptionPlace('retention');
  const { secret: key, previousSecrets, ...kept } = RETENTION_OPTIONS.read(options, place);
  if (key === undefined && previousSecrets.length > 0) {
    place.in('previousSecrets').refuse('needs retention.secret, the present one');
  }
  return { ...kept, keys: key === undefined ? [] : [key, ...previousSecrets] };
}
