import type { LedgerEntry } from '../../billing/ledger-store.js';
import type { SessionTransition, StoredSession } from '../../msgapp/sessions/session-store.js';
import type { StoredReply } from '../../outbox/decide.js';
import type { DeliveryStatus, TrailEntry } from '../../outbox/delivery-state.js';
import type { StoredMessage } from '../../outbox/outbox-store.js';
import type { PolicyRecord } from '../../outbox/send-policy.js';
import type { PhoneMessage } from '../../sandbox/phone-store.js';
import type { OptOut } from '../../sms/opt-out/opt-out-store.js';
import { MemoryParts } from './memory-parts.js';

/** A recipient's row. */
export interface MemoryDelivery {
  readonly message: MemoryMessage;
  readonly position: number;
  readonly number: string;
  readonly units: number;
  refundedUnits: number;
  status: DeliveryStatus;
  attempt: number;
  /** Next attempt, end of the lease or report deadline, after the status. */
  dueAt: number | null;
  /** Whether an attempt of it may have been taken. */
  doubtful: boolean;
  error: string | undefined;
  reference: string | undefined;
  readonly trail: TrailEntry[];
  updatedAt: number;
}

/** A message's row with its recipients. */
export interface MemoryMessage extends Omit<StoredMessage, 'refundedUnits' | 'recipients'> {
  refundedUnits: number;
  readonly deliveries: MemoryDelivery[];
}

/** A reply's row, as JSON text like in a database, so that nobody can change it later. */
export interface MemoryReply extends Omit<StoredReply, 'reply'> {
  readonly reply: string;
  readonly expiresAt: number;
}

/** A guard's record, its state as JSON text like in a database. */
export interface MemoryRecord extends Omit<PolicyRecord, 'state'> {
  readonly state: string;
}

/** A session's row with its steps and its credentials. */
export interface MemorySession {
  session: StoredSession;
  /** Undefined: nobody holds it. */
  owner: string | undefined;
  leaseUntil: number;
  epoch: number;
  readonly transitions: SessionTransition[];
  /** By kind and id. */
  readonly credentials: Map<string, string>;
}

/** A file; readable when it is whole. */
export interface MemoryMedia {
  readonly at: number;
  readonly chunks: Uint8Array[];
  whole: boolean;
}

/**
 * The rows. A store changes them without an `await` between its first read and its last write: that is all the
 * transaction and all the lock that one thread needs.
 */
export class MemoryTables {
  /** Of accounts that ever moved units. */
  readonly balances = new Map<string, number>();
  /** The sum of an account's top-ups and adjustments. */
  readonly posted = new Map<string, number>();
  readonly entries = new Map<string, LedgerEntry>();
  readonly messages = new Map<string, MemoryMessage>();
  /** Deliveries that somebody must look at again, in accept order. */
  readonly waiting = new Set<MemoryDelivery>();
  /** By `onceId`. */
  readonly replies = new Map<string, MemoryReply>();
  /** By the key that the guard gave. */
  readonly records = new Map<string, MemoryRecord>();
  /** By message, channel and number. */
  readonly phones = new Map<string, PhoneMessage>();
  readonly parts = new MemoryParts();
  readonly sessions = new Map<string, MemorySession>();
  readonly media = new Map<string, MemoryMedia>();
  /** By account, signature and number. */
  readonly optOuts = new Map<string, OptOut>();

  constructor(private readonly accounts: { has(accountId: string): boolean }) {}

  /** Units left; undefined for an unknown account. */
  balance(accountId: string): number | undefined {
    return this.accounts.has(accountId) ? (this.balances.get(accountId) ?? 0) : undefined;
  }

  /** Adds a ledger line and moves the balance with it. */
  book(entry: LedgerEntry): void {
    this.entries.set(entry.id, entry);
    const sums = entry.kind === 'topup' || entry.kind === 'adjust' ? [this.balances, this.posted] : [this.balances];
    for (const sum of sums) sum.set(entry.accountId, (sum.get(entry.accountId) ?? 0) + entry.units);
  }
}
