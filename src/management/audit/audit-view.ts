import type { AuditAction, AuditFields, Author, StoredAuditEntry } from '../../accounts/audit/audit-entry.js';
import { isoOf } from '../../common/phone-numbers/iso.js';

/** A change as the API gives it. Moments are ISO 8601. */
export interface AuditView {
  readonly id: string;
  readonly at: string;
  readonly by: { readonly kind: Author['kind']; readonly id: string | null; readonly address: string | null };
  readonly action: AuditAction;
  readonly target: string;
  /** Null: of no account in particular. */
  readonly account: string | null;
  /** The fields that changed, as they were and as they are. */
  readonly before: AuditFields | null;
  readonly after: AuditFields | null;
}

/** A page of changes, the newest first. */
export interface AuditPage {
  readonly items: readonly AuditView[];
  readonly next_cursor: string | null;
}

export function auditView({ id, at, by, action, target, accountId, before, after }: StoredAuditEntry): AuditView {
  return {
    id,
    at: isoOf(at),
    by: { kind: by.kind, id: by.id ?? null, address: by.address ?? null },
    action,
    target,
    account: accountId ?? null,
    before: before ?? null,
    after: after ?? null,
  };
}
