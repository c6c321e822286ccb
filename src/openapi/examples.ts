import type { RouteError } from './controller-description.js';

/** An account in examples. */
export const EXAMPLE_ACCOUNT = '019d0f4e-6a00-7c3e-9a51-2f6b8d0c4e17';

/** A phone number in examples. */
export const EXAMPLE_NUMBER = '22670000000';

/** A moment in examples. */
export const EXAMPLE_MOMENT = '2026-11-21T10:00:00.000Z';

/** Only a user token can name an account that does not exist: a key always belongs to one. */
export function accountNotFound(userTokens: boolean): readonly RouteError[] {
  return userTokens ? [{ code: 'error.account_not_found' }] : [];
}
