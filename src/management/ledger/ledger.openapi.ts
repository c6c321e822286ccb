import { LEDGER_KINDS, LedgerPage, LedgerView } from '../../billing/ledger.api.js';
import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE, periodFilters } from '../../openapi/listings.js';
import { oneOf } from '../../schemas/builders.js';
import { NOT_ADMITTED } from '../schemas.js';
import { LedgerController } from './ledger.controller.js';
import { ListLedgerQuery } from './ledger.dto.js';

/** OpenAPI description of an account's ledger (docs/management-api.md). */
export const ledgerOpenapi = describeController(LedgerController, () => ({
  tag: { name: 'Ledger', description: 'The units that were added to the balance of an account and taken from it.' },
  schemas: { LedgerEntry: LedgerView, LedgerPage },
  errors: NOT_ADMITTED,
  routes: {
    list: {
      operationId: 'listLedger',
      summary: 'List entries, newest first',
      description:
        'With `Accept: text/csv` the answer is a file with all matching entries. Then `limit` and `cursor` have no effect. If the file cannot be completed, the connection breaks.',
      query: fieldsOf(ListLedgerQuery, {
        ...PAGE,
        kind: oneOf(LEDGER_KINDS, 'Only entries of this cause.'),
        ...periodFilters('entries'),
      }),
      answer: { schema: 'LedgerPage' },
      errors: ['error.invalid_cursor', ...invalid('kind', 'since', 'until')],
    },
  },
}));
