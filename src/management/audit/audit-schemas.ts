import { AUDIT_ACTIONS } from '../../accounts/audit/audit-entry.js';
import { periodFilters } from '../../openapi/listings.js';
import { EXAMPLE, identifier, moment, nullable, object, oneOf, text } from '../../schemas/builders.js';
import type { Schema, Schemas } from '../../schemas/schema.js';
import { pageSchema } from '../schemas.js';

const fields = (description: string): Schema =>
  nullable({ type: 'object', description, additionalProperties: {}, example: { status: 'pending' } });

/** The filters of a listing of changes. */
export const AUDIT_FILTERS = { action: oneOf(AUDIT_ACTIONS, 'Only this action.'), ...periodFilters('changes') };

/** Schemas of the audit log. */
export const AUDIT_SCHEMAS: Schemas = {
  AuditEntry: object('A change.', {
    id: identifier('Of the entry.', '4711'),
    at: moment('When it was made.'),
    by: object('Who made it.', {
      kind: oneOf(
        ['user', 'operator', 'key', 'host'],
        'One of the account, one of the operator, a program, or the host.',
      ),
      id: nullable(text('The subject of a user, or the public part of a key.')),
      address: nullable(text('The address that the request came from.', { example: '203.0.113.7' })),
    }),
    action: oneOf(AUDIT_ACTIONS, 'What was done.'),
    target: text('What was changed: an id, a name, a masked number.', { example: 'MA BOUTIQUE' }),
    account: nullable(identifier('The account; null for none in particular.', EXAMPLE.account)),
    before: fields('The changed fields as they were; null where there were none.'),
    after: fields('The changed fields as they are; null where there are none.'),
  }),
  AuditPage: pageSchema('Changes, the newest first.', 'AuditEntry'),
};
