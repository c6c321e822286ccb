import type { ErrorDescription } from '../openapi/controller-description.js';

/** The errors for callers who may not use a route. */
export const NOT_ADMITTED: readonly ErrorDescription[] = [
  'error.user_required',
  'error.role_missing',
  'error.account_unnamed',
];
