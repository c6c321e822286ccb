import { MessagingError } from '../../common/errors.js';
import type { Page } from '../../common/listing/page.js';
import type { Database } from '../../storage/engine/database.js';
import { type Operation, type Row, rowsOf, type Statement, write } from '../../storage/engine/operation.js';
import { integerOf, type ListingIndex, optionalText, textOf } from '../../storage/engine/rows.js';
import { and, readPage, readRows } from '../../storage/read-page.js';
import { AuditAction } from './audit.api.js';
import { AuditEntry, AuditFields, AuditQuery, Author, StoredAuditEntry } from './audit-entry.js';

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

/**
 * The log of who changed what. The stores write an entry in the transaction of its change. So each change has one
 * entry, and a change that was rolled back has none. Entries are never changed or removed.
 */
export class AuditLog {
  constructor(private readonly database: Database) {}

  /** Adds an entry for an action that changes no store, such as the reading of a text. */
  record(entry: AuditEntry): Promise<void> {
    return this.database.write(() => recordAudit(entry));
  }

  /**
   * Lists entries, newest first; `after` is the id of the last entry of the previous page.
   * @throws MessagingError `error.invalid_cursor`
   */
  list({ limit, after, accountId, action, since, until }: AuditQuery): Promise<Page<StoredAuditEntry>> {
    const { dialect } = this.database;
    const filters = [...condition('account_id = ?', accountId), ...condition('action = ?', action)];
    const shown = [...condition('at >= ?', since), ...condition('at < ?', until)];
    const list = function* (): Operation<Page<StoredAuditEntry>> {
      const id = after === undefined ? undefined : Number(after);
      if (id !== undefined && !Number.isSafeInteger(id)) throw new MessagingError('error.invalid_cursor');
      const page = { limit, after };
      // A period is read in the order of times. In the order of ids, the listing would read all entries that are newer
      // than the period.
      if (shown.length > 0)
        return yield* readPage(dialect, { ...BY_TIME, index: indexOf(accountId, action), filters, shown }, page);
      const where = and([...filters, ...condition('id < ?', id)]);
      const read = (columns: string, most: number) =>
        rowsOf(
          `SELECT ${columns} FROM messaging_audit${where.sql === '' ? '' : ` WHERE ${where.sql}`} ORDER BY id DESC LIMIT ?`,
          ...where.params,
          most,
        );
      const { rows, isLast } = yield* readRows(read, '*', BYTES, limit);
      const items = rows.map(toEntry);
      return { items, next: isLast ? undefined : items.at(-1)?.id };
    };
    return this.database.browse(list, accountId);
  }
}

/** The size of an entry in bytes, in SQL. All columns except `changes` are short. */
const BYTES = 'octet_length(changes) + 500';

const BY_TIME = { table: 'messaging_audit', columns: '*', bytes: BYTES, moment: 'at', toItem: toEntry } as const;

function indexOf(accountId: string | undefined, action: string | undefined): ListingIndex {
  if (accountId !== undefined) return 'messaging_audit_account_at';
  return action === undefined ? 'messaging_audit_at' : 'messaging_audit_action_at';
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
