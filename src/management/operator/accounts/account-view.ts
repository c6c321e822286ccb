import { type LedgerEntry, shownId } from '../../../billing/ledger-entry.js';
import { isoOf } from '../../../common/phone-numbers/iso.js';
import { ledgerView } from '../../ledger/ledger-view.js';
import type { AccountView, PostingView } from './managed-account.api.js';
import type { ManagedAccount } from './managed-account-store.js';

export function accountView({ id, name, state, balance, createdAt, lowBalance }: ManagedAccount): AccountView {
  return { id, name, state, balance, created_at: isoOf(createdAt), low_balance: lowBalance ?? null };
}

/** @param entry the entry with its stored id */
export function postingView(balance: number, entry: LedgerEntry): PostingView {
  return { balance, entry: ledgerView({ ...entry, id: shownId(entry) }) };
}
