import type { LedgerView } from '../../billing/ledger.api.js';
import type { LedgerEntry } from '../../billing/ledger-entry.js';
import { isoOf } from '../../common/phone-numbers/iso.js';

export function ledgerView({ id, kind, units, messageId, position, note, at }: LedgerEntry): LedgerView {
  const of = { message_id: messageId ?? null, position: position ?? null, note: note ?? null };
  return { id, kind, units, ...of, at: isoOf(at) };
}
