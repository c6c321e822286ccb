import {
  type AuditAction,
  type AuditEntry,
  type AuditFields,
  AuditLog,
  type AuditQuery,
  type Author,
  type StoredAuditEntry,
} from '../../../accounts/audit.js';
import { MessagingError } from '../../../common/errors.js';
import type { Page } from '../../../common/page.js';
import type { Executor } from '../engine/executor.js';
import { type Operation, type Row, type Statement, write } from '../engine/operation.js';
import { integerOf, optionalText, textOf } from '../engine/rows.js';
import { type Listing, readPage } from './read-page.js';

/** Adds an entry to the audit log, in the transaction of its change. */
export function* recordAudit({ accountId, at, by, action, target, before, after }: AuditEntry): Operation<void> {
  yield* write(
    `INSERT INTO messaging_audit (account_id, at, by_kind, by_id, address, action, target, changes)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    accountId ?? null,
    at,
    by.kind,
    by.id ?? null,
    by.address ?? null,
    action,
    target,
    JSON.stringify({ before, after }),
  );
}

/** The audit log in SQL. */
export class TypeormAuditLog extends AuditLog {
  constructor(private readonly executor: Executor) {
    super();
  }

  override record(entry: AuditEntry): Promise<void> {
    return this.executor.write(() => recordAudit(entry));
  }

  override list({ limit, after, accountId, action, since, until }: AuditQuery): Promise<Page<StoredAuditEntry>> {
    const { dialect } = this.executor;
    return this.executor.browse(function* (): Operation<Page<StoredAuditEntry>> {
      if (after !== undefined && !Number.isSafeInteger(Number(after))) throw new MessagingError('error.invalid_cursor');
      const listing: Listing<StoredAuditEntry> = {
        table: 'messaging_audit',
        index:
          accountId !== undefined
            ? 'messaging_audit_account_at'
            : action !== undefined
              ? 'messaging_audit_action_at'
              : 'messaging_audit_at',
        columns: '*',
        moment: 'at',
        filters: [...condition('account_id = ?', accountId), ...condition('action = ?', action)],
        shown: [...condition('at >= ?', since), ...condition('at < ?', until)],
        toItem: toEntry,
      };
      return yield* readPage(dialect, listing, { limit, after });
    });
  }
}

function condition(sql: string, param: string | number | undefined): readonly Statement[] {
  return param === undefined ? [] : [{ sql, params: [param] }];
}

function toEntry(row: Row): StoredAuditEntry {
  // Only `recordAudit` writes these columns, from values of these types.
  const changes = JSON.parse(textOf(row, 'changes')) as { before?: AuditFields; after?: AuditFields };
  return {
    id: String(row.id),
    accountId: optionalText(row, 'account_id'),
    at: integerOf(row, 'at'),
    by: {
      kind: textOf(row, 'by_kind') as Author['kind'],
      id: optionalText(row, 'by_id'),
      address: optionalText(row, 'address'),
    },
    action: textOf(row, 'action') as AuditAction,
    target: textOf(row, 'target'),
    ...changes,
  };
}
