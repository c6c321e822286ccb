import type { Author } from '../accounts/audit/audit-entry.js';
import type { IdempotencyKey } from '../common/idempotency-key.js';
import type { PageRequest } from '../common/listing/page.js';
import { postingEvent } from '../events/account-events.js';
import type { NewEvent } from '../events/event-types.js';
import type { LedgerKind, LedgerPart } from './ledger.api.js';

/** An entry of the ledger. Entries are never changed or removed. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: string;
  readonly kind: LedgerKind;
  /** Positive: added to the balance; negative: taken from it. */
  readonly units: number;
  /** The message of a charge or a refund. */
  readonly messageId: string | undefined;
  /** The recipient's position in the send, from 0, for a refund. */
  readonly position: number | undefined;
  readonly note: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The filter of a listing of entries. */
export interface LedgerQuery extends PageRequest {
  readonly kind?: LedgerKind | undefined;
  /** Only entries at or after this time, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only entries before this time, in milliseconds since the epoch. */
  readonly until?: number | undefined;
}

/** A top-up or an adjustment. */
export interface LedgerPosting {
  /** The id of the entry, which is posted only once. A charge or a refund cannot have it, see `idOf`. */
  readonly id: string;
  readonly accountId: string;
  readonly kind: 'topup' | 'adjust';
  /** As in `LedgerEntry`. */
  readonly units: number;
  readonly note?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Who posts it, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}

/**
 * The result of a posting. `repeated`: it was already stored with the same account, kind and units; `taken`: its id is
 * stored with another account, kind or units; `refused`: the balance would become negative; `over`: the sum of the
 * account's postings would exceed `MAX_BALANCE`; `unknown`: the account does not exist.
 */
export type PostingAnswer = 'posted' | 'repeated' | 'taken' | 'refused' | 'over' | 'unknown';

/** The reply to a posting, and the Idempotency-Key under which it is stored in the posting's transaction. */
export interface PostingReply {
  readonly once: IdempotencyKey | undefined;
  /**
   * Makes the reply, which must contain no secret. It must have no side effects. `balance` is the balance after the
   * posting; `entry` has its stored id.
   */
  readonly replyOf: (balance: number, entry: LedgerEntry) => object;
}

/** The reply to a posting, or the reply of an earlier request under the same Idempotency-Key. */
export interface GivenReply {
  readonly reply: object;
  readonly replayed: boolean;
}

/** The result of a posting with a reply. */
export interface AnsweredPosting {
  /** `repeated` also if the reply of an earlier request is returned. */
  readonly answer: PostingAnswer;
  /** Undefined unless the answer is `posted` or `repeated`. */
  readonly accepted: GivenReply | undefined;
}

/**
 * The highest sum of an account's top-ups and adjustments. It keeps the balance exact as a JavaScript number: a refund, which is
 * never refused, only returns units that were charged.
 */
export const MAX_BALANCE = Number.MAX_SAFE_INTEGER;

/** The maximum number of faults that `LedgerStore.check` returns. */
export const MAX_FAULTS = 1000;

/** How far a check of the books has come. */
export interface LedgerProgress {
  readonly part: LedgerPart;
  /** How many rows of the part have been checked since the check began. */
  readonly checked: number;
  /** The place at which another check can continue: its option `after`. */
  readonly next: string;
}

/** Options of a check of the books. */
export interface LedgerCheck {
  /** The `next` of an earlier check's progress, to continue that check. Default: a new check. */
  readonly after?: string | undefined;
  /** Called after each chunk of some hundred rows. The check does not wait for a promise that it returns. */
  readonly onProgress?: ((progress: LedgerProgress) => void) | undefined;
}

/** Keeps ids of postings distinct from those of charges (the message's id) and of refunds (that id with a position). */
const PREFIX = 'op:';

/** The id of a posting with this reference. */
export function idOf(reference: string): string {
  return PREFIX + reference;
}

/** The id that the host sees: the reference of a top-up or an adjustment, or the stored id of another entry. */
export function shownId({ id, kind }: Pick<LedgerEntry, 'id' | 'kind'>): string {
  return isPosting(kind) && id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}

/** The event of a posting. */
export function eventOf(posting: LedgerPosting): NewEvent {
  return postingEvent({ ...posting, id: shownId(posting), note: posting.note ?? null });
}

/**
 * Compares a posting with the stored entry of the same id. Undefined: the posting is new.
 *
 * A posting with the same id is a repeat only when account, kind and units are the same. Any other use of the id is a
 * mistake. It must not look like a success, because its units are not posted.
 *
 * @param entry the stored entry with the id of the posting
 */
export function postedBefore(
  posting: LedgerPosting,
  entry: Pick<LedgerEntry, 'accountId' | 'kind' | 'units'> | undefined,
): 'repeated' | 'taken' | undefined {
  if (!entry) return undefined;
  const same = entry.accountId === posting.accountId && entry.kind === posting.kind && entry.units === posting.units;
  return same ? 'repeated' : 'taken';
}

/** Whether an entry of this kind is a top-up or an adjustment. */
function isPosting(kind: LedgerKind): boolean {
  return kind === 'topup' || kind === 'adjust';
}
