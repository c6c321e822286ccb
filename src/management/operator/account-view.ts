import type { AccountState } from '../../accounts/account-store.js';
import { type LedgerEntry, type LedgerKind, shownId } from '../../billing/ledger-store.js';
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

/** An entry of the ledger. */
export interface PostedEntry {
  /** The reference of the posting. */
  readonly id: string;
  readonly kind: LedgerKind;
  readonly units: number;
  readonly message_id: string | null;
  readonly position: number | null;
  readonly note: string | null;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The answer to a top-up or an adjustment. */
export interface PostingView {
  /** After it. */
  readonly balance: number;
  readonly entry: PostedEntry;
}

export function accountView({ id, name, state, balance, createdAt, lowBalance }: ManagedAccount): AccountView {
  const created_at = new Date(createdAt).toISOString();
  return { id, name, state, balance, created_at, low_balance: lowBalance ?? null };
}

/** @param entry with its stored id */
export function postingView(balance: number, entry: LedgerEntry): PostingView {
  return { balance, entry: postedEntry({ ...entry, id: shownId(entry) }) };
}

function postedEntry({ id, kind, units, messageId, position, note, at }: LedgerEntry): PostedEntry {
  return {
    ...{ id, kind, units, message_id: messageId ?? null, position: position ?? null, note: note ?? null },
    at: new Date(at).toISOString(),
  };
}
