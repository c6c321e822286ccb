import { LRUCache } from 'lru-cache';
import { MessagingOptionsError } from '../common/errors.js';
import { group, OptionPlace } from '../common/options.js';
import { type Catalogue, catalogueOf } from '../common/text/catalogue.js';
import { CHALLENGE_KEPT_MS, type Challenge, longestOf } from './challenge.js';
import { describeChance, type GuessChance, guessChance } from './guess-chance.js';
import { OtpCodes } from './otp-codes.js';
import { type ResolvedLimits, resolveLimits } from './otp-limits.js';
import { OTP_OPTIONS, type OtpOptions } from './otp-options.js';
import { OtpText } from './otp-text.js';

/** The number of services whose sample text is cached. */
const MAX_SPECIMENS = 1000;

/** The checked options of OTP with their defaults filled in. Times are in milliseconds. */
export abstract class OtpSettings {
  abstract readonly codes: OtpCodes;
  abstract readonly text: OtpText;
  /** Returns a sample text of a service, with a code of zeros. It costs as much as the real message. */
  abstract specimenOf(service: string): string;
  abstract readonly catalogue: Catalogue;
  abstract readonly limits: ResolvedLimits;
  abstract readonly triesPerCode: number;
  abstract readonly validityMs: number;
  abstract readonly chance: GuessChance;
  /** Warnings about the options that the start logs, one sentence each. */
  abstract readonly warnings: readonly string[];
  /**
   * Warnings about the limits. The start logs them only if codes reach real phones, because on the sandbox there is nobody to
   * protect.
   */
  abstract readonly limitWarnings: readonly string[];
  /** Returns when a challenge and its log of sends are no longer needed, in milliseconds since the epoch. */
  abstract keptUntil(challenge: Challenge): number;
}

/** Settings of the application that the options of OTP depend on. */
interface OtpSurroundings {
  readonly catalogue?: Catalogue;
  /** The home market, a country code. */
  readonly home?: string | undefined;
}

const OPTIONS = group(OTP_OPTIONS);

/**
 * Checks the options and fills in their defaults.
 * @throws MessagingOptionsError with a sentence that names the wrong option, also if codes are too easy to guess
 */
export function resolveOtpSettings(options: OtpOptions | undefined, surroundings: OtpSurroundings = {}): OtpSettings {
  const { catalogue = catalogueOf('fr'), home } = surroundings;
  if (typeof options !== 'object' || options === null) {
    throw new MessagingOptionsError(
      'Option otp is missing: { pepper }, the secret that codes are derived from. Make one with "openssl rand -base64 48" and keep it outside the database.',
    );
  }
  const {
    length: digits,
    validitySeconds: validity,
    triesPerCode,
    maxGuessChance,
    ...others
  } = OPTIONS.read(options, new OptionPlace('otp'));
  const { pepper, services } = others;
  const limits = resolveLimits(others.limits, home);
  const codes = new OtpCodes(pepper, digits);
  const text = new OtpText(catalogue, services);
  text.check(digits);
  const specimens = new LRUCache<string, string>({
    max: MAX_SPECIMENS,
    memoMethod: (service) => text.render({ code: '0'.repeat(digits), service, validity }),
  });
  const chance = guessChance({ digits, triesPerCode, wrongTries: limits.wrongTries });
  checkChance(chance, limits, maxGuessChance);
  return {
    codes,
    text,
    catalogue,
    limits,
    triesPerCode,
    chance,
    specimenOf: (service) => specimens.memo(service),
    validityMs: validity * 1000,
    warnings: warningsOf(validity),
    limitWarnings: limitWarningsOf(limits),
    keptUntil: ({ createdAt, lastSentAt }) =>
      Math.max(createdAt + CHALLENGE_KEPT_MS, lastSentAt + longestOf(limits.sends)),
  };
}

function checkChance(chance: GuessChance, { preset }: ResolvedLimits, most: number): void {
  if (preset === 'none' || chance.perMonth <= most) return;
  throw new MessagingOptionsError(
    `The options of otp make codes too easy to guess. ${describeChance(chance)} At most ${most * 100} % in 30 days are accepted: give fewer wrong tries or longer codes, or raise otp.maxGuessChance.`,
  );
}

function warningsOf(validity: number): string[] {
  if (validity >= 60 && validity <= 600) return [];
  return [`otp.validitySeconds is ${validity}: outside 60 to 600 codes come too late or stay open too long.`];
}

function limitWarningsOf({ preset }: ResolvedLimits): string[] {
  if (preset !== 'none') return [];
  return [
    'otp.limits is "none": codes can be sent and tried WITHOUT LIMIT, anybody who keeps trying WILL GUESS them. For sandboxes only.',
  ];
}
