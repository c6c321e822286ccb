import { costOf, type IdempotencyKey, type Send } from './send.js';
import type { PolicyRecord, PolicyRefusal, RecordChanges, SeenRecords } from './send-policy.js';

/** Why a send was not accepted. */
export type RefusalCode = 'insufficient_balance' | 'idempotency_mismatch' | 'account_not_found';

/** What became of a send. */
export type SendDecision =
  | { readonly kind: 'accepted'; readonly reply: object }
  | { readonly kind: 'replayed'; readonly reply: object }
  | { readonly kind: 'refused'; readonly why: RefusalCode }
  | { readonly kind: 'refused'; readonly why: 'guarded'; readonly refusal: PolicyRefusal };

/** A reply that is kept under an Idempotency-Key. */
export interface StoredReply {
  readonly fingerprint: string;
  readonly reply: object;
}

/** What a store read under the accounts' locks. */
export interface Seen {
  /** Balance of each account that exists. */
  readonly balances: ReadonlyMap<string, number>;
  /** Live replies by `onceId`. */
  readonly replies: ReadonlyMap<string, StoredReply>;
  /** The records that the sends' guards name, as far as they exist. */
  readonly records: SeenRecords;
}

/** Outcomes in the order of the sends, and what is now to be written. */
export interface Decision {
  readonly outcomes: readonly SendDecision[];
  readonly accepted: readonly Send[];
  /** Units to take from each account. */
  readonly spent: ReadonlyMap<string, number>;
  /** Records of guards as they are now to be. */
  readonly records: RecordChanges;
}

/** The rules of money and repeats; see `decide`. */
export type Decide = (sends: readonly Send[], seen: Seen) => Decision;

/** One string for an Idempotency-Key and its scope; different for any two that differ, whatever characters they hold. */
export function onceId(key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>): string {
  return JSON.stringify([key.accountId, key.route, key.key]);
}

/**
 * All rules of money and repeats, in one pure function that every storage engine runs between lock and write: sends are
 * taken in order, a repeat under an Idempotency-Key answers what the first one did, and a send is accepted only when its
 * guard lets it through and the balance that is left covers it whole. A guard sees what the sends before it have changed.
 */
export const decide: Decide = (sends, seen) => {
  const left = new Map(seen.balances);
  const spent = new Map<string, number>();
  const taken = new Map<string, StoredReply>();
  const outcomes: SendDecision[] = [];
  const accepted: Send[] = [];
  const records = new Map<string, PolicyRecord>();
  const guarded = new Map(seen.records);

  for (const send of sends) {
    const once = send.once && onceId(send.once);
    const earlier = once === undefined ? undefined : (taken.get(once) ?? seen.replies.get(once));
    if (earlier) {
      outcomes.push(
        earlier.fingerprint === send.once?.fingerprint
          ? { kind: 'replayed', reply: earlier.reply }
          : { kind: 'refused', why: 'idempotency_mismatch' },
      );
      continue;
    }
    const balance = left.get(send.accountId);
    if (balance === undefined) {
      outcomes.push({ kind: 'refused', why: 'account_not_found' });
      continue;
    }
    const verdict = send.guard?.decide(guarded);
    if (verdict && 'refusal' in verdict) {
      outcomes.push({ kind: 'refused', why: 'guarded', refusal: verdict.refusal });
      continue;
    }
    const cost = costOf(send);
    if (cost > balance) {
      outcomes.push({ kind: 'refused', why: 'insufficient_balance' });
      continue;
    }
    left.set(send.accountId, balance - cost);
    spent.set(send.accountId, (spent.get(send.accountId) ?? 0) + cost);
    const final = verdict ? { ...send, payload: verdict.payload, reply: verdict.reply } : send;
    for (const [key, record] of verdict?.changes ?? []) {
      records.set(key, record);
      guarded.set(key, { ...record, lost: false });
    }
    if (once !== undefined && send.once) taken.set(once, { fingerprint: send.once.fingerprint, reply: final.reply });
    accepted.push(final);
    outcomes.push({ kind: 'accepted', reply: final.reply });
  }
  return { outcomes, accepted, spent, records };
};
