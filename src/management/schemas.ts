import type { ErrorDescription } from '../openapi/controller-description.js';
import { list, nullable, object, ref, text } from '../schemas/builders.js';
import type { Schema } from '../schemas/schema.js';

/** A page of a listing. */
export function pageSchema(description: string, item: string): Schema {
  return object(description, {
    items: list(ref(item)),
    next_cursor: nullable(text('For the next page; null on the last one.', { example: 'MDE5ZDBmNTE' })),
  });
}

/** Who may not. */
export const NOT_ADMITTED: readonly ErrorDescription[] = [
  'error.user_required',
  'error.role_missing',
  'error.account_unnamed',
];
