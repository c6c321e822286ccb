import { any, integer, number, type OptionsOf } from '../common/options.js';
import { type OtpPepperOption, resolvePeppers } from './otp-codes.js';
import { OTP_LIMITS, type OtpLimits, type OtpPreset } from './otp-limits.js';
import { OTP_SERVICES, type OtpServiceOptions } from './otp-text.js';

/** Options of one-time passcodes. */
export interface OtpOptions {
  /** The secret that codes are derived from: at least 32 random characters, kept outside the database. */
  readonly pepper: OtpPepperOption;
  /** Digits of a code, 4 to 8. Default 4; 6 make a guess a hundred times less likely. */
  readonly length?: number | undefined;
  /** How long a code is valid, in seconds, 1 to 3600. Default 300; outside 60 to 600 a warning is logged at the start. */
  readonly validitySeconds?: number | undefined;
  /** Wrong tries that make a code invalid, 1 to 10. Default 3. */
  readonly triesPerCode?: number | undefined;
  /** How often codes may be sent and tried: a preset, or values that override one. Default `standard`. */
  readonly limits?: OtpPreset | OtpLimits | undefined;
  /** The highest accepted chance, 0 to 1, of guessing a code of one number in 30 days; the start fails above it. Default 0.01. */
  readonly maxGuessChance?: number | undefined;
  /** Options of single services, by their exact names. Default none. */
  readonly services?: Readonly<Record<string, OtpServiceOptions>> | undefined;
}

/** Reads and checks `OtpOptions`. */
export const OTP_OPTIONS = {
  pepper: any(resolvePeppers),
  length: integer(4, 8).or(4),
  validitySeconds: integer(1, 3600).or(300),
  triesPerCode: integer(1, 10).or(3),
  limits: OTP_LIMITS.or(undefined),
  maxGuessChance: number(0, 1).or(0.01),
  services: OTP_SERVICES.or({}),
} satisfies OptionsOf<OtpOptions>;
