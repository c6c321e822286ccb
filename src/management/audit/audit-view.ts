import type { AuditView } from '../../accounts/audit/audit.api.js';
import type { StoredAuditEntry } from '../../accounts/audit/audit-entry.js';
import { isoOf } from '../../common/phone-numbers/iso.js';

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
