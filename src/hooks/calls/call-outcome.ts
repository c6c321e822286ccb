import { type ErrorCode, MessagingError } from '../../common/errors.js';
import { LOGIN_HOOK_OUTCOMES, type LoginHookOutcome } from '../login-hook.api.js';

/** The outcomes of refusals. Any other error is `failed`. */
const OUTCOMES: Partial<Readonly<Record<ErrorCode, LoginHookOutcome>>> = {
  'error.login_hook_refused': 'unauthorized',
  'error.login_hook_unreadable': 'unreadable',
  'error.login_hook_disabled': 'disabled',
  'error.invalid_number': 'invalid_number',
  'error.too_many_segments': 'too_long',
  'error.otp_too_many_codes': 'too_many_codes',
  'error.otp_destination_refused': 'destination_refused',
  'error.insufficient_balance': 'insufficient_balance',
  'error.signature_refused': 'signature_refused',
  'error.account_suspended': 'suspended',
  'error.storage_unavailable': 'unavailable',
};

/** The word for how a call ended. @param how the word itself, or the error that ended the call */
export function outcomeOf(how: unknown): LoginHookOutcome {
  const word = LOGIN_HOOK_OUTCOMES.find((each) => each === how);
  return word ?? (how instanceof MessagingError ? OUTCOMES[how.code] : undefined) ?? 'failed';
}
