import { Injectable } from '@nestjs/common';
import { AUDIT_ACTIONS, type AuditAction, type AuditPage } from '../../accounts/audit/audit.api.js';
import { AuditLog } from '../../accounts/audit/audit.js';
import { MessagingError } from '../../common/errors.js';
import { checkAccountId } from '../../common/inputs.js';
import { cursorOf } from '../../common/listing/list-query.js';
import { type ListQuery, type Period, pageOf, periodOf } from '../list-query.js';
import { auditView } from './audit-view.js';

/** The filter and page of a listing of changes. */
export interface AuditListQuery extends ListQuery, Period {
  readonly action?: string | undefined;
}

/**
 * Reads the audit log: who changed what, when and from where. The changes themselves write it, in their transactions.
 *
 * @example
 * ```ts
 * const { items } = await audit.list(accountId, { action: 'key.created', since: '2026-11-01' });
 * ```
 */
@Injectable()
export class AuditService {
  constructor(private readonly log: AuditLog) {}

  /**
   * Lists the changes of an account, newest first.
   * @param accountId undefined: the changes of all accounts, and changes that concern no account
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
   */
  async list(accountId: string | undefined, query: AuditListQuery = {}): Promise<AuditPage> {
    if (accountId !== undefined) checkAccountId(accountId);
    const page = pageOf(query, (text) => /^\d{1,15}$/.test(text));
    const filter = { ...periodOf(query), action: actionOf(query.action) };
    const { items, next } = await this.log.list({ ...page, ...filter, accountId });
    return { items: items.map(auditView), next_cursor: cursorOf(next) };
  }
}

function actionOf(given: string | undefined): AuditAction | undefined {
  const action = AUDIT_ACTIONS.find((each) => each === given);
  if (given !== undefined && action === undefined) throw new MessagingError('error.field_invalid', { field: 'action' });
  return action;
}
