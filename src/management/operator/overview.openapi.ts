import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import {
  EXAMPLE,
  identifier,
  list,
  moment,
  nullable,
  object,
  oneOf,
  phoneNumber,
  text,
  yes,
} from '../../openapi/schemas.js';
import { ACTION, AUDIT_SCHEMAS } from '../audit/audit-schemas.js';
import { AddOptOutsBody, ListOptOutsQuery } from '../optouts/optouts.dto.js';
import { OPT_OUT_SCHEMAS } from '../optouts/optouts.openapi.js';
import { CURSOR, PAGE, pageSchema } from '../schemas.js';
import { SESSION_STATUSES } from './managed-sessions.js';
import { ListManagedAuditQuery, ListSessionsQuery } from './operator.dto.js';
import { OperatorOverviewController } from './overview.controller.js';

const SIGNATURE = text('The sender name that the numbers do not hear from.', { example: 'INFOS' });

/** OpenAPI description of what all accounts have (contract.md section 13). */
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
        limit: PAGE,
        cursor: CURSOR,
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
      query: fieldsOf(ListOptOutsQuery, {
        limit: PAGE,
        cursor: CURSOR,
        signature: { ...SIGNATURE, description: 'Only those of this sender name.' },
        number: phoneNumber('Only those of this number.'),
      }),
      answer: { schema: 'OptOutPage' },
      errors: ['error.invalid_cursor', 'error.signature_format'],
    },
    addOptOuts: {
      operationId: 'addOptOutsForAll',
      summary: 'Add numbers for all accounts',
      body: {
        name: 'AddOptOutsForAll',
        description: 'Which numbers, and from which sender name.',
        ...fieldsOf(AddOptOutsBody, { signature: SIGNATURE, numbers: list(phoneNumber('A number.')) }),
        examples: { 'One number': { signature: 'INFOS', numbers: [EXAMPLE.number] } },
      },
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
        limit: PAGE,
        cursor: CURSOR,
        account: 'Only those of this account.',
        action: { ...ACTION, description: 'Only this action.' },
        since: text('Only changes from this moment on, ISO 8601.', { example: EXAMPLE.moment }),
        until: text('Only changes before this moment, ISO 8601.', { example: EXAMPLE.moment }),
      }),
      answer: { schema: 'AuditPage' },
      errors: ['error.invalid_cursor', ...invalid('action', 'since', 'until'), 'error.account_not_found'],
    },
  },
}));
