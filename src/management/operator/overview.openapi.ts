import { AuditPage, AuditView } from '../../accounts/audit/audit.api.js';
import { SESSION_STATUSES } from '../../events/session-status.js';
import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE } from '../../openapi/listings.js';
import { EXAMPLE, oneOf } from '../../schemas/builders.js';
import { AUDIT_FILTERS } from '../audit/audit-filters.js';
import { addOptOuts, OPT_OUT_SCHEMAS, OPT_OUTS_QUERY } from '../optouts/optouts.openapi.js';
import { ManagedSessionPage, ManagedSessionView, Unlinked } from './managed-session.api.js';
import { ListManagedAuditQuery, ListSessionsQuery } from './operator.dto.js';
import { OperatorOverviewController } from './overview.controller.js';

/** OpenAPI description of the routes over all accounts (docs/management-api.md). */
export const overviewOpenapi = describeController(OperatorOverviewController, () => ({
  tag: {
    name: 'Operator: all accounts',
    description: 'Linked numbers, opt-outs that apply to all accounts, and changes.',
  },
  parameters: { id: { description: 'The linked number, or the entry.', example: EXAMPLE.session } },
  schemas: {
    ...OPT_OUT_SCHEMAS,
    AuditEntry: AuditView,
    AuditPage,
    ManagedSession: ManagedSessionView,
    ManagedSessionPage,
    Unlinked,
  },
  routes: {
    listSessions: {
      operationId: 'listManagedSessions',
      summary: 'List the linked numbers of all accounts, newest first',
      query: fieldsOf(ListSessionsQuery, {
        ...PAGE,
        account: 'Only those of this account.',
        status: oneOf(SESSION_STATUSES, 'Only numbers with this status.'),
      }),
      answer: { schema: 'ManagedSessionPage' },
      errors: ['error.invalid_cursor', ...invalid('status'), 'error.account_not_found'],
    },
    unlink: {
      operationId: 'unlinkManagedSession',
      summary: 'Unlink a number',
      description: 'The credentials of the number are deleted. This has no effect on a session that is over.',
      answer: { schema: 'Unlinked' },
      errors: ['error.session_not_found'],
    },
    listOptOuts: {
      operationId: 'listOptOutsForAll',
      summary: 'List the opt-outs that apply to all accounts, newest first',
      query: OPT_OUTS_QUERY,
      answer: { schema: 'OptOutPage' },
      errors: ['error.invalid_cursor', 'error.signature_format'],
    },
    addOptOuts: {
      operationId: 'addOptOutsForAll',
      summary: 'Add numbers for all accounts',
      body: addOptOuts('AddOptOutsForAll'),
      idempotent: true,
      answer: { schema: 'OptOutsAdded' },
      errors: ['error.signature_format'],
    },
    removeOptOut: {
      operationId: 'removeOptOutForAll',
      summary: 'Remove an opt-out that applies to all accounts',
      answer: { schema: 'OptOutRemoved' },
      errors: ['error.optout_not_found'],
    },
    listAudit: {
      operationId: 'listManagedAudit',
      summary: 'List the changes of all accounts, newest first',
      query: fieldsOf(ListManagedAuditQuery, {
        ...PAGE,
        account: 'Only those of this account.',
        ...AUDIT_FILTERS,
      }),
      answer: { schema: 'AuditPage' },
      errors: ['error.invalid_cursor', ...invalid('action', 'since', 'until'), 'error.account_not_found'],
    },
  },
}));
