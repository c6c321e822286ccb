import { costOf, type IdempotencyKey, type Send } from './send.js';
import type { PolicyRecord, PolicyRefusal, RecordChanges, SeenRecords } from './send-policy.js';

/** Why a send was not accepted. */
export type RefusalCode = 'insufficient_balance' | 'idempotency_mismatch' | 'account_not_found';

/** The decision on a send. */
export type SendDecision =
  | { readonly kind: 'accepted'; readonly reply: object }
  | { readonly kind: 'replayed'; readonly reply: object }
  | { readonly kind: 'refused'; readonly why: RefusalCode }
  | { readonly kind: 'refused'; readonly why: 'policy'; readonly refusal: PolicyRefusal };

/** A reply stored under an Idempotency-Key. */
export interface StoredReply {
  readonly fingerprint: string;
  readonly reply: object;
}

/** The state that a store has read under the accounts' locks; for the exception see `decide`. */
export interface Seen {
  /** Balance of each account that exists. */
  readonly balances: ReadonlyMap<string, number>;
  /** Replies that have not expired, by `onceId`. */
  readonly replies: ReadonlyMap<string, StoredReply>;
  /** The existing records that the sends' policies name. */
  readonly records: SeenRecords;
}

/** The decisions on sends, in their order, and the changes to write. */
export interface Decision {
  readonly decisions: readonly SendDecision[];
  readonly accepted: readonly Send[];
  /** Units to debit from each account. */
  readonly spent: ReadonlyMap<string, number>;
  /** Policy records to write. */
  readonly records: RecordChanges;
}

/** The rules of charging and of repeats; see `decide`. */
export type Decide = (sends: readonly Send[], seen: Seen) => Decision;

/** An Idempotency-Key with its scope as one string, unambiguous for all characters. */
export function onceId(key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>): string {
  return JSON.stringify([key.accountId, key.route, key.key]);
}

/**
 * All rules of charging and of repeats, in one pure function that every storage runs between lock and write. The exception:
 * where a store decides before it has a lock (see `OutboxStore.commit`), on PostgreSQL for sends without key and policy, it
 * gives balances that suffice for all, and the writing statement checks the real ones. Sends are decided in order. A repeat of an Idempotency-Key gets the first reply. A send is accepted only when its policy allows it and the
 * remaining balance covers its full price. A policy sees the changes of the sends before it.
 */
export const decide: Decide = (sends, seen) => {
  const balances = new Map(seen.balances);
  const spent = new Map<string, number>();
  const replies = new Map<string, StoredReply>();
  const decisions: SendDecision[] = [];
  const accepted: Send[] = [];
  const records = new Map<string, PolicyRecord>();
  const current = new Map(seen.records);

  for (const send of sends) {
    const once = send.once && onceId(send.once);
    const earlier = once === undefined ? undefined : (replies.get(once) ?? seen.replies.get(once));
    if (earlier) {
      decisions.push(
        earlier.fingerprint === send.once?.fingerprint
          ? { kind: 'replayed', reply: earlier.reply }
          : { kind: 'refused', why: 'idempotency_mismatch' },
      );
      continue;
    }
    const balance = balances.get(send.accountId);
    if (balance === undefined) {
      decisions.push({ kind: 'refused', why: 'account_not_found' });
      continue;
    }
    const decision = send.policy?.decide(current);
    if (decision && 'refusal' in decision) {
      decisions.push({ kind: 'refused', why: 'policy', refusal: decision.refusal });
      continue;
    }
    const cost = costOf(send);
    if (cost > balance) {
      decisions.push({ kind: 'refused', why: 'insufficient_balance' });
      continue;
    }
    balances.set(send.accountId, balance - cost);
    spent.set(send.accountId, (spent.get(send.accountId) ?? 0) + cost);
    const final = decision ? { ...send, payload: decision.payload, reply: decision.reply } : send;
    for (const [key, record] of decision?.changes ?? []) {
      records.set(key, record);
      current.set(key, { ...record, lost: false });
    }
    if (once !== undefined && send.once) replies.set(once, { fingerprint: send.once.fingerprint, reply: final.reply });
    accepted.push(final);
    decisions.push({ kind: 'accepted', reply: final.reply });
  }
  return { decisions, accepted, spent, records };
};
