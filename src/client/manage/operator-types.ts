import type { AccountRole, AccountState, LedgerEntry, OperatorRole, Signature } from './account-types.js';

/** An account, for the operator. Moments are ISO 8601, UTC. */
export interface ManagedAccount {
  readonly id: string;
  readonly name: string;
  readonly state: AccountState;
  readonly balance: number;
  /** Below this many units an event tells; null: never. */
  readonly low_balance: number | null;
  readonly created_at: string;
}

/** Which accounts to list. */
export interface ManagedAccountsQuery {
  /** The beginning of an id or of a name. */
  readonly query?: string | undefined;
  readonly state?: AccountState | undefined;
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
}

/** A posting. The same reference with the same units posts nothing again. */
export interface PostingOrder {
  readonly units: number;
  readonly reference: string;
  readonly note?: string | undefined;
}

/** What a posting has made. */
export interface Posting {
  readonly balance: number;
  readonly entry: LedgerEntry;
}

/** Whom a one-time link signs in. */
export interface LinkOrder {
  /** For a role of an account. */
  readonly account?: string | undefined;
  readonly role: AccountRole | OperatorRole;
  readonly subject?: string | undefined;
  /** How long it can be used. Default 10. */
  readonly minutes?: number | undefined;
}

/** A one-time link. */
export interface Link {
  /** What stands behind the dashboard's address, beginning with `#`; null in a repeat of the answer. */
  readonly url_fragment: string | null;
  readonly expires_at: string;
}

/** A sender name with its account. */
export type ManagedSignature = Signature & { readonly account: string };

/** A route to a carrier, as one process sees it. */
export interface CarrierRoute {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly breaker: string | null;
  readonly links: readonly CarrierLink[];
  /** Segments a second; null: no limit. */
  readonly pace: number | null;
  /** Messages since the start of the process. */
  readonly submits: number;
  /** Of an SMPP route since the start of the process: refused binds, and refusals of the whole route. Null: another one. */
  readonly interruptions: { readonly bind: number; readonly route: number } | null;
  readonly last_error: string | null;
}

/** A connection to a carrier. */
export interface CarrierLink {
  readonly name: string;
  readonly state: string;
  readonly since: string;
  readonly window: number;
  readonly in_flight: number;
}

/** Texts of phones that a route dropped, because the number of the phone cannot be read for sure. */
export interface UnreadNumber {
  readonly route: string;
  readonly count: number;
  /** Masked. */
  readonly last: string;
  readonly last_at: string;
}

/** The routes to carriers, as the answering process sees them. */
export interface Carriers {
  readonly routes: readonly CarrierRoute[];
  readonly unread_numbers: readonly UnreadNumber[];
}

/** What waits in a queue. */
export interface QueueDepth {
  readonly channel: string;
  readonly priority: string;
  /** Counted up to 100 000. */
  readonly depth: number;
  readonly oldest_due: string | null;
}

/** What is paused: a channel, an account, or an account on a channel. */
export interface QueuePart {
  readonly channel?: string | null | undefined;
  readonly account?: string | null | undefined;
}

/** A part of the queue that is paused. */
export interface QueuePause {
  /** Null: all channels. */
  readonly channel: string | null;
  /** Null: all accounts. */
  readonly account: string | null;
  readonly since: string;
}

/** The queues of all accounts. */
export interface Queues {
  readonly items: readonly QueueDepth[];
  readonly paused: readonly QueuePause[];
}

/** A check of the books. */
export interface BooksCheck {
  /** Null: there was none. */
  readonly id: string | null;
  /** `failed`: it broke off; `none`: there was none. */
  readonly state: 'running' | 'done' | 'failed' | 'none';
  readonly part: string | null;
  readonly checked: number;
  readonly findings: readonly string[];
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

/** A linked number of any account, or an attempt to link one. */
export interface ManagedSession {
  readonly id: string;
  readonly account: string;
  readonly channel: string;
  readonly number: string | null;
  readonly status: string;
  /** Why it is in this state. */
  readonly reason: string | null;
  readonly [detail: string]: unknown;
}

/** Which linked numbers to list. */
export interface ManagedSessionsQuery {
  readonly account?: string | undefined;
  readonly status?: string | undefined;
  readonly limit?: number | undefined;
}

/** The process that answers, and the storage. */
export interface System {
  readonly version: string;
  readonly node: string;
  readonly role: string;
  /** What an examination of the storage has found; `todo`: something should be done. */
  readonly storage: readonly { readonly text: string; readonly todo: boolean }[];
  /** The background workers, each with the end of its last round. */
  readonly workers: readonly { readonly name: string; readonly last_round: string | null }[];
  /** How far its clock is ahead of the database's. */
  readonly clock_skew_ms: number | null;
}
