import type { Author } from '../accounts/audit/audit-entry.js';
import type { IdempotencyKey } from '../common/idempotency-key.js';
import type { PageRequest } from '../common/page.js';
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
  /** From this moment on, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Before this moment, milliseconds since the epoch. */
  readonly until?: number | undefined;
}

/** An entry that an operator adds. */
export interface LedgerPosting {
  /** An id that is posted once; never one that a charge or a refund may have. */
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
 * The result of a posting. `repeated`: it is stored already, with the same account, kind and units; `taken`: its id is stored with
 * another account, kind or units; `refused`: the balance would become negative; `over`: the sum of the account's postings would
 * exceed `MAX_BALANCE`; `unknown`: the account does not exist.
 */
export type PostingAnswer = 'posted' | 'repeated' | 'taken' | 'refused' | 'over' | 'unknown';

/** The reply to a posting, and the Idempotency-Key under which it is kept with it. */
export interface PostingReply {
  readonly once: IdempotencyKey | undefined;
  /** Pure; it holds no secret. `balance` is that after the posting, `entry` has its stored id. */
  readonly replyOf: (balance: number, entry: LedgerEntry) => object;
}

/** The reply to a posting, or that of an earlier request under its key. */
export interface GivenReply {
  readonly reply: object;
  readonly replayed: boolean;
}

/** The result of a posting with a reply. */
export interface AnsweredPosting {
  /** `repeated` also where the reply is replayed. */
  readonly answer: PostingAnswer;
  /** Undefined unless it is `posted` or `repeated`. */
  readonly accepted: GivenReply | undefined;
}

/**
 * The highest sum of an account's top-ups and adjustments. It keeps the balance exact as a JavaScript number: a refund, which is
 * never refused, only returns units that were charged.
 */
export const MAX_BALANCE = Number.MAX_SAFE_INTEGER;

/** The most faults that `LedgerStore.check` returns. */
export const MAX_FAULTS = 1000;

/** How far a check of the books has come. */
export interface LedgerProgress {
  readonly part: LedgerPart;
  /** How many rows of the part have been checked since the check began. */
  readonly checked: number;
  /** Where another check can go on: its `after`. */
  readonly next: string;
}

/** What a check of the books is told. */
export interface LedgerCheck {
  /** Go on behind the place that `next` of an earlier check's progress told. Default: from the beginning. */
  readonly after?: string | undefined;
  /** Called after each chunk of some hundred rows; the check waits for nothing that it does. */
  readonly onProgress?: ((progress: LedgerProgress) => void) | undefined;
}

/** Keeps ids of postings distinct from those of charges (the message's id) and of refunds (that id with a position). */
const PREFIX = 'op:';

/** The id of a posting with this reference. */
export function idOf(reference: string): string {
  return PREFIX + reference;
}

/** The id that the host sees: the reference of a posting, or else the stored id. */
export function shownId({ id, kind }: Pick<LedgerEntry, 'id' | 'kind'>): string {
  return isPosting(kind) && id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}

/** What a posting tells. */
export function eventOf(posting: LedgerPosting): NewEvent {
  return postingEvent({ ...posting, id: shownId(posting), note: posting.note ?? null });
}

/**
 * Whether a posting is stored already; undefined: it is new.
 *
 * A posting with the same id is a repeat only when account, kind and units are the same. Any other use of the id is a mistake, and
 * must not look like a success, because its units are not posted.
 *
 * @param entry the entry with its id
 */
export function postedBefore(
  posting: LedgerPosting,
  entry: Pick<LedgerEntry, 'accountId' | 'kind' | 'units'> | undefined,
): 'repeated' | 'taken' | undefined {
  if (!entry) return undefined;
  const same = entry.accountId === posting.accountId && entry.kind === posting.kind && entry.units === posting.units;
  return same ? 'repeated' : 'taken';
}

/** Whether an entry is one that an operator added. */
function isPosting(kind: LedgerKind): boolean {
  return kind === 'topup' || kind === 'adjust';
}
