import { any, integer, number, type OptionsOf } from '../common/options.js';
import { type OtpPepperOption, resolvePeppers } from './otp-codes.js';
import { OTP_LIMITS, type OtpLimits, type OtpPreset } from './otp-limits.js';
import { OTP_SERVICES, type OtpServiceOptions } from './otp-text.js';

/** Options of one-time passcodes. */
export interface OtpOptions {
  /** The secret that codes are derived from: at least 32 random characters, kept outside the database. */
  readonly pepper: OtpPepperOption;
  /** How many digits a code has, 4 to 8. Default 4. With 6 digits a guess is a hundred times less likely. */
  readonly length?: number | undefined;
  /** How long a code is valid, in seconds, 1 to 3600. Default 300. If it is outside 60 to 600, the start logs a warning. */
  readonly validitySeconds?: number | undefined;
  /** How many wrong tries make a code invalid, 1 to 10. Default 3. */
  readonly triesPerCode?: number | undefined;
  /** How often codes may be sent and tried: a preset, or values that override a preset. Default `standard`. */
  readonly limits?: OtpPreset | OtpLimits | undefined;
  /**
   * The highest accepted chance, 0 to 1, of guessing a code of one number in 30 days. If the options give a higher chance, the
   * start fails. Default 0.01.
   */
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
