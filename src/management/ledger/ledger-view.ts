import type { LedgerEntry, LedgerKind } from '../../billing/ledger-entry.js';
import { isoOf } from '../../common/phone-numbers/iso.js';

/** An entry of the ledger as the API gives it. */
export interface LedgerView {
  readonly id: string;
  readonly kind: LedgerKind;
  /** Positive: added to the balance; negative: taken from it. */
  readonly units: number;
  /** The message of a charge or a refund. */
  readonly message_id: string | null;
  /** The recipient's place in the send, from 0, for a refund. */
  readonly position: number | null;
  readonly note: string | null;
  readonly at: string;
}

/** A page of entries, the newest first. */
export interface LedgerPage {
  readonly items: readonly LedgerView[];
  readonly next_cursor: string | null;
}

export function ledgerView({ id, kind, units, messageId, position, note, at }: LedgerEntry): LedgerView {
  const of = { message_id: messageId ?? null, position: position ?? null, note: note ?? null };
  return { id, kind, units, ...of, at: isoOf(at) };
}
