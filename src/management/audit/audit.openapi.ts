import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { EXAMPLE, text } from '../../openapi/schemas.js';
import { CURSOR, NOT_ADMITTED, PAGE } from '../schemas.js';
import { AuditController } from './audit.controller.js';
import { ListAuditQuery } from './audit.dto.js';
import { ACTION, AUDIT_SCHEMAS } from './audit-schemas.js';

/** OpenAPI description of an account's changes (contract.md section 13). */
export const auditOpenapi = describeController(AuditController, () => ({
  tag: {
    name: 'Audit',
    description: 'Who changed what in an account, when and from where. Entries are never changed.',
  },
  schemas: AUDIT_SCHEMAS,
  errors: NOT_ADMITTED,
  routes: {
    list: {
      operationId: 'listAudit',
      summary: 'List changes, newest first',
      query: fieldsOf(ListAuditQuery, {
        limit: PAGE,
        cursor: CURSOR,
        action: { ...ACTION, description: 'Only this action.' },
        since: text('Only changes from this moment on, ISO 8601.', { example: EXAMPLE.moment }),
        until: text('Only changes before this moment, ISO 8601.', { example: EXAMPLE.moment }),
      }),
      answer: { schema: 'AuditPage' },
      errors: ['error.invalid_cursor', ...invalid('action', 'since', 'until')],
    },
  },
}));
