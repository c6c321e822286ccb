import type { OtpPepperOption } from './otp-codes.js';
import type { OtpLimits, OtpPreset } from './otp-limits.js';

/** What the host says about one-time passcodes. */
export interface OtpOptions {
  /** What codes are derived from; at least 32 random characters, kept outside the database. */
  readonly pepper: OtpPepperOption;
  /** Digits of a code, 4 to 8. Default 4; 6 make a guess a hundred times less likely. */
  readonly length?: number | undefined;
  /** How long a code is good, in seconds, 1 to 3600. Default 300; outside 60 to 600 the start warns. */
  readonly validitySeconds?: number | undefined;
  /** Wrong tries that kill a code, 1 to 10. Default 3. */
  readonly triesPerCode?: number | undefined;
  /** How often codes may be sent and tried: a preset, or values over one. Default `standard`. */
  readonly limits?: OtpPreset | OtpLimits | undefined;
  /** The highest chance, 0 to 1, of guessing a code of one number in 30 days that the start accepts. Default 0.01. */
  readonly maxGuessChance?: number | undefined;
  /** What is different for some services, by their exact names. */
  readonly services?: Readonly<Record<string, OtpServiceOptions>> | undefined;
}

/** How codes of one service are sent. */
export interface OtpServiceOptions {
  /** The sender name of its SMS; a default signature, or verified for the account. Default: the first default signature. */
  readonly signature?: string | undefined;
  /**
   * Its text: `{code}`, and where wanted `{service}` and `{validity}` (such as `5 min`). With everything filled in it must
   * be one GSM-7 segment; the start refuses it otherwise.
   */
  readonly template?: string | undefined;
  /** The host name that a browser may fill the code in on: the last line is `@example.com #1234` (WICG origin-bound codes). */
  readonly webOtpHost?: string | undefined;
  /** The 11 characters of an Android app's hash as the last line (SMS Retriever API). Not together with `webOtpHost`. */
  readonly retrieverHash?: string | undefined;
}
