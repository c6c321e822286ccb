import { AUDIT_ACTIONS } from '../../accounts/audit/audit.api.js';
import { periodFilters } from '../../openapi/listings.js';
import { oneOf } from '../../schemas/builders.js';

/** The filters of a listing of changes. */
export const AUDIT_FILTERS = { action: oneOf(AUDIT_ACTIONS, 'Only this action.'), ...periodFilters('changes') };
