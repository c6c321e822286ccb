import { AuditPage, AuditView } from '../../accounts/audit/audit.api.js';
import { describeController, fieldsOf } from '../../openapi/controller-description.js';
import { invalid } from '../../openapi/errors.js';
import { PAGE } from '../../openapi/listings.js';
import { NOT_ADMITTED } from '../schemas.js';
import { AuditController } from './audit.controller.js';
import { ListAuditQuery } from './audit.dto.js';
import { AUDIT_FILTERS } from './audit-filters.js';

/** OpenAPI description of an account's changes (docs/management-api.md). */
export const auditOpenapi = describeController(AuditController, () => ({
  tag: {
    name: 'Audit',
    description: 'The audit log: who changed what in an account, when and from where. Entries never change.',
  },
  schemas: { AuditEntry: AuditView, AuditPage },
  errors: NOT_ADMITTED,
  routes: {
    list: {
      operationId: 'listAudit',
      summary: 'List changes, newest first',
      query: fieldsOf(ListAuditQuery, { ...PAGE, ...AUDIT_FILTERS }),
      answer: { schema: 'AuditPage' },
      errors: ['error.invalid_cursor', ...invalid('action', 'since', 'until')],
    },
  },
}));
