import type { ErrorDescription } from '../openapi/controller-description.js';

/** Who may not. */
export const NOT_ADMITTED: readonly ErrorDescription[] = [
  'error.user_required',
  'error.role_missing',
  'error.account_unnamed',
];
