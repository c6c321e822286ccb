import type { LedgerEntry, LedgerKind, LedgerPosting } from './ledger-store.js';

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
