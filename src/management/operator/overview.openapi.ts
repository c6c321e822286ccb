import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE } from '../../openapi/listings.js';
import {
  EXAMPLE,
  identifier,
  moment,
  nullable,
  object,
  oneOf,
  phoneNumber,
  text,
  yes,
} from '../../schemas/builders.js';
import { AUDIT_FILTERS, AUDIT_SCHEMAS } from '../audit/audit-schemas.js';
import { addOptOuts, OPT_OUT_SCHEMAS, OPT_OUTS_QUERY } from '../optouts/optouts.openapi.js';
import { pageSchema } from '../schemas.js';
import { SESSION_STATUSES } from './managed-sessions.js';
import { ListManagedAuditQuery, ListSessionsQuery } from './operator.dto.js';
import { OperatorOverviewController } from './overview.controller.js';

/** OpenAPI description of what all accounts have (docs/management-api.md). */
export const overviewOpenapi = describeController(OperatorOverviewController, () => ({
  tag: { name: 'Operator: all accounts', description: 'Linked numbers, opt-outs that hold for all accounts, changes.' },
  parameters: { id: { description: 'The linked number, or the entry.', example: EXAMPLE.session } },
  schemas: {
    ...OPT_OUT_SCHEMAS,
    ...AUDIT_SCHEMAS,
    ManagedSession: object('A linked number.', {
      id: identifier('Of the session.', EXAMPLE.session),
      account: identifier('The account.', EXAMPLE.account),
      channel: text('The channel.', { example: 'whatsapp' }),
      number: nullable(phoneNumber('The number; null before the scan.', EXAMPLE.sender)),
      status: oneOf(SESSION_STATUSES, 'How it is.'),
      reason: nullable(text('Why it is so.', { example: 'requested' })),
      created_at: moment('When it was asked for.'),
      connected_at: nullable(moment('When it was first connected.')),
      updated_at: moment('When its status last changed.'),
    }),
    ManagedSessionPage: pageSchema('Linked numbers, the newest first.', 'ManagedSession'),
    Unlinked: object('The number is unlinked.', { success: yes }),
  },
  routes: {
    listSessions: {
      operationId: 'listManagedSessions',
      summary: 'List the linked numbers of all accounts, newest first',
      query: fieldsOf(ListSessionsQuery, {
        ...PAGE,
        account: 'Only those of this account.',
        status: oneOf(SESSION_STATUSES, 'Only those with this status.'),
      }),
      answer: { schema: 'ManagedSessionPage' },
      errors: ['error.invalid_cursor', ...invalid('status'), 'error.account_not_found'],
    },
    unlink: {
      operationId: 'unlinkManagedSession',
      summary: 'Unlink a number',
      description: 'Its credentials are deleted. It has no effect on one that is over.',
      answer: { schema: 'Unlinked' },
      errors: ['error.session_not_found'],
    },
    listOptOuts: {
      operationId: 'listOptOutsForAll',
      summary: 'List the opt-outs that hold for all accounts, newest first',
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
      summary: 'Remove an opt-out that holds for all accounts',
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
