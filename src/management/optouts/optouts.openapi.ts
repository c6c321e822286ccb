import { type DtoBody, describeController, fieldsOf } from '../../openapi/controller-description.js';
import { PAGE } from '../../openapi/listings.js';
import { EXAMPLE, list, phoneNumber } from '../../schemas/builders.js';
import { NOT_ADMITTED } from '../schemas.js';
import { OptOutPage, OptOutRemoved, OptOutsAdded, OptOutView, SIGNATURE } from './optout.api.js';
import { OptOutsController } from './optouts.controller.js';
import { AddOptOutsBody, ListOptOutsQuery } from './optouts.dto.js';

/** Schemas of the suppression list. */
export const OPT_OUT_SCHEMAS = { OptOut: OptOutView, OptOutPage, OptOutsAdded, OptOutRemoved };

/** The query of a listing of opt-outs. */
export const OPT_OUTS_QUERY = fieldsOf(ListOptOutsQuery, {
  ...PAGE,
  signature: { ...SIGNATURE, description: 'Only opt-outs of this sender name.' },
  number: phoneNumber('Only opt-outs of this number.'),
});

/** Returns the description of the body that adds opt-outs. */
export function addOptOuts(name: string): DtoBody {
  return {
    name,
    description: 'The numbers, and the sender name from which they opt out.',
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
      description:
        'A cursor is refused if its entry was removed meanwhile. Then begin again, so that you miss no entry.',
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
