import { type DtoBody, describeController, fieldsOf } from '../../openapi/controller-description.js';
import { PAGE } from '../../openapi/listings.js';
import {
  count,
  EXAMPLE,
  identifier,
  list,
  moment,
  object,
  oneOf,
  phoneNumber,
  shownNumber,
  text,
  yes,
} from '../../schemas/builders.js';
import type { Schemas } from '../../schemas/schema.js';
import { NOT_ADMITTED, pageSchema } from '../schemas.js';
import { OptOutsController } from './optouts.controller.js';
import { AddOptOutsBody, ListOptOutsQuery } from './optouts.dto.js';

const SIGNATURE = text('The sender name that the numbers do not hear from.', { example: 'INFOS' });

/** Schemas of the suppression list. */
export const OPT_OUT_SCHEMAS: Schemas = {
  OptOut: object('A number that gets no SMS under a sender name.', {
    id: identifier('Of the entry.', EXAMPLE.message),
    number: shownNumber('The number; only stars where it was erased.'),
    signature: SIGNATURE,
    source: oneOf(['phone', 'operator'], 'A text from the phone, or a person or program.'),
    added_at: moment('When it was added.'),
  }),
  OptOutPage: pageSchema('Entries, the newest first.', 'OptOut'),
  OptOutsAdded: object('The numbers are on the list.', {
    added: count('How many were not on it before.', { example: 1 }),
  }),
  OptOutRemoved: object('The entry is removed.', { success: yes }),
};

/** The query of a listing of opt-outs. */
export const OPT_OUTS_QUERY = fieldsOf(ListOptOutsQuery, {
  ...PAGE,
  signature: { ...SIGNATURE, description: 'Only those of this sender name.' },
  number: phoneNumber('Only those of this number.'),
});

/** The body that adds opt-outs. */
export function addOptOuts(name: string): DtoBody {
  return {
    name,
    description: 'Which numbers, and from which sender name.',
    ...fieldsOf(AddOptOutsBody, { signature: SIGNATURE, numbers: list(phoneNumber('A number.')) }),
    examples: { 'One number': { signature: 'INFOS', numbers: [EXAMPLE.number] } },
  };
}

/** OpenAPI description of an account's suppression list (docs/management-api.md). */
export const optOutsOpenapi = describeController(OptOutsController, () => ({
  tag: { name: 'Opt-outs', description: 'Numbers that get no SMS under a sender name of the account.' },
  parameters: { id: { description: 'The entry.', example: EXAMPLE.message } },
  schemas: OPT_OUT_SCHEMAS,
  errors: NOT_ADMITTED,
  routes: {
    list: {
      operationId: 'listOptOuts',
      summary: 'List opt-outs, newest first',
      description: 'A cursor is refused when its entry was removed meanwhile: begin again, so that none is missed.',
      query: OPT_OUTS_QUERY,
      answer: { schema: 'OptOutPage' },
      errors: ['error.invalid_cursor', 'error.signature_format'],
    },
    add: {
      operationId: 'addOptOuts',
      summary: 'Add numbers',
      description: 'A START from the phone does not remove them.',
      body: addOptOuts('AddOptOuts'),
      idempotent: true,
      answer: { schema: 'OptOutsAdded' },
      errors: ['error.signature_format', 'error.account_not_found'],
    },
    remove: {
      operationId: 'removeOptOut',
      summary: 'Remove an opt-out',
      answer: { schema: 'OptOutRemoved' },
      errors: ['error.optout_not_found'],
    },
  },
}));
