import type { AccountState } from '../../../accounts/account-records.js';
import { type LedgerEntry, shownId } from '../../../billing/ledger-entry.js';
import { isoOf } from '../../../common/phone-numbers/iso.js';
import { type LedgerView, ledgerView } from '../../ledger/ledger-view.js';
import type { ManagedAccount } from './managed-account-store.js';

/** An account as operators see it. */
export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly state: AccountState;
  /** Units. */
  readonly balance: number;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** The event `balance.low` comes when the balance falls below it; null: never. */
  readonly low_balance: number | null;
}

/** Accounts. */
export interface AccountPage {
  readonly items: readonly AccountView[];
  /** The `cursor` of the next page; null at the end. */
  readonly next_cursor: string | null;
}

/** The answer to a top-up or an adjustment. */
export interface PostingView {
  /** After it. */
  readonly balance: number;
  /** Its `id` is the reference of the posting. */
  readonly entry: LedgerView;
}

export function accountView({ id, name, state, balance, createdAt, lowBalance }: ManagedAccount): AccountView {
  return { id, name, state, balance, created_at: isoOf(createdAt), low_balance: lowBalance ?? null };
}

/** @param entry with its stored id */
export function postingView(balance: number, entry: LedgerEntry): PostingView {
  return { balance, entry: ledgerView({ ...entry, id: shownId(entry) }) };
}
