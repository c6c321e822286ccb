import { type ErrorCode, MessagingError } from '../../common/errors.js';
import type { Catalogue } from '../../common/text/catalogue.js';
import { errorAnswer } from '../../http/errors.js';

/** The body of an error in Twilio's shape. */
export interface TwilioError {
  readonly code: number;
  readonly message: string;
  readonly more_info: string;
  readonly status: number;
}

/** Twilio's codes of errors that programs handle. */
const CODES: Partial<Readonly<Record<ErrorCode, number>>> = {
  'error.unauthorized': 20003,
  'error.account_suspended': 20005,
  'error.invalid_number': 21211,
  'error.signature_refused': 21212,
  'error.empty_message': 21602,
  'error.too_many_segments': 21617,
  'error.send_at_invalid': 35114,
  'error.otp_too_many_codes': 60203,
  'error.otp_locked': 60202,
  'error.otp_destination_refused': 60205,
};

/** An error that only Twilio's shape has. */
export class TwilioRefusal extends Error {
  constructor(
    readonly code: number,
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * The answer to any thrown value in Twilio's shape. Errors without a code of their own have 20000 plus the HTTP status, as
 * Twilio's common errors do (20404, 20429, 20503).
 */
export function twilioError(
  error: unknown,
  catalogue: Catalogue,
): { readonly body: TwilioError; readonly headers: Readonly<Record<string, string>> } {
  if (error instanceof TwilioRefusal) return { body: bodyOf(error.code, error.message, error.status), headers: {} };
  const { body, headers } = errorAnswer(error, catalogue);
  const known = error instanceof MessagingError ? CODES[error.code] : undefined;
  return { body: bodyOf(known ?? 20_000 + body.statusCode, body.message, body.statusCode), headers };
}

function bodyOf(code: number, message: string, status: number): TwilioError {
  return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
}
