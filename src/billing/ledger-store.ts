import type { HostTransaction } from '../common/host-transaction.js';
import type { Page, PageRequest } from '../common/page.js';

/** Why units moved. */
export type LedgerKind = 'topup' | 'adjust' | 'charge' | 'refund';

/** One line of the ledger. Lines are only ever added. */
export interface LedgerEntry {
  readonly id: string;
  readonly accountId: string;
  readonly kind: LedgerKind;
  /** Positive: units came in; negative: units went out. */
  readonly units: number;
  /** The message a charge or a refund belongs to. */
  readonly messageId: string | undefined;
  /** The recipient's place, for a refund. */
  readonly position: number | undefined;
  readonly note: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A line an operator adds. */
export interface LedgerPosting {
  /** Given by the caller: the same id twice is posted once. Never what a charge or a refund may have. */
  readonly id: string;
  /** What its id was in earlier versions, where charges and refunds have theirs: a posting found there is this one too. */
  readonly formerId?: string | undefined;
  readonly accountId: string;
  readonly kind: 'topup' | 'adjust';
  readonly units: number;
  readonly note?: string | undefined;
  readonly at: number;
}

/**
 * What became of a posting. `repeated`: it is there already, with the same account, kind and units; `taken`: its id is there
 * with others; `refused`: the balance would go below zero; `over`: the account's postings would make more than
 * `HIGHEST_BALANCE`; `unknown`: no such account.
 */
export type PostingAnswer = 'posted' | 'repeated' | 'taken' | 'refused' | 'over' | 'unknown';

/**
 * The most units that an account's top-ups and adjustments may make together, so that its balance stays exact as a number
 * of JavaScript, whatever is refunded later: a refund only gives back what was charged, and is never refused.
 */
export const HIGHEST_BALANCE = Number.MAX_SAFE_INTEGER;

/** The most faults that `LedgerStore.check` answers. */
export const MOST_FAULTS = 1000;

/** Persists balances and the ledger; charges and refunds are written by the outbox's store, in its transactions. */
export abstract class LedgerStore {
  /** Units left, with `host` as its open transaction sees them; undefined for an unknown account. */
  abstract balance(accountId: string, host?: HostTransaction): Promise<number | undefined>;

  /**
   * Adds an operator's line and moves the balance with it, in one transaction, or with `host` in the one that the host has
   * open, whose fate it shares. Whether it is `repeated` or `taken`
   * `postedBefore` tells from the lines under its ids; whatever is not `posted` leaves no trace.
   */
  abstract post(posting: LedgerPosting, host?: HostTransaction): Promise<PostingAnswer>;

  /**
   * An account's lines under the ids that are stored, newest first; `after` is the id of the last one seen. Throws
   * `error.invalid_cursor` when there is none.
   */
  abstract entries(accountId: string, page: PageRequest): Promise<Page<LedgerEntry>>;

  /**
   * Proves the books, over all accounts; one sentence for each disagreement, which has the id of the message or else the
   * account that it is about, none when all is well:
   *
   * - Each balance is the sum of its entries, and each entry's account exists.
   * - Each charge has its message and each message its charge: one, of its units, on its account.
   * - Each refund has its failed recipient and each failed recipient that cost units its refund: one, of these units, on the
   *   message's account.
   * - A message's units, charged and refunded, are the sums of its recipients', and refunded is what failed recipients cost.
   * - No balance, top-up or recipient has negative units.
   *
   * What follows from the others is not told again: one mistake is one sentence. At most `MOST_FAULTS` are told.
   */
  abstract check(): Promise<readonly string[]>;
}

/** Sets ids of postings apart from those of charges, a message's id, and of refunds, that id and a recipient's place. */
const PREFIX = 'op:';

/** The ids under which a reference is, or once was, posted. */
export function idsOf(reference: string): Pick<LedgerPosting, 'id' | 'formerId'> {
  return { id: PREFIX + reference, formerId: reference };
}

/** What a line is shown under: a posting's reference, else its id. */
export function shownId({ id, kind }: Pick<LedgerEntry, 'id' | 'kind'>): string {
  return isPosting(kind) && id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}

/**
 * What a store answers for a posting of which it found these lines, under its id or its former one; undefined: it is new.
 *
 * A repeat counts as one only where account, kind and units are the same. Anything else is a mistake of somebody's, and a
 * silent answer would have them believe that their units were posted.
 */
export function postedBefore(
  posting: LedgerPosting,
  lines: readonly Pick<LedgerEntry, 'id' | 'accountId' | 'kind' | 'units'>[],
): 'repeated' | 'taken' | undefined {
  const own = lines.find(({ id }) => id === posting.id);
  const former = lines.find(({ id, kind }) => id === posting.formerId && isPosting(kind));
  const line = own ?? former;
  if (!line) return undefined;
  // It may be the line of a reference without that beginning: rather refused than taken for a repeat, or posted twice.
  if (!own && line.id.startsWith(PREFIX)) return 'taken';
  const same = line.accountId === posting.accountId && line.kind === posting.kind && line.units === posting.units;
  return same ? 'repeated' : 'taken';
}

function isPosting(kind: LedgerKind): boolean {
  return kind === 'topup' || kind === 'adjust';
}
