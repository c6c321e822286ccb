import { onceId, type StoredReply } from '../../common/idempotency-key.js';
import { phoneOf } from '../../common/phone-numbers/phone-spellings.js';
import { DAY_MS } from '../../common/time.js';
import type { PolicyRecord, PolicyRefusal, RecordChanges, SeenRecords } from '../policy/send-policy.js';
import { costOf, type Send, type SendKey } from './send.js';

/** The reason why a send was not accepted. */
export type RefusalCode = 'insufficient_balance' | 'idempotency_mismatch' | 'account_not_found' | KeyRefusal;

/** Why the sending key may not send this. */
type KeyRefusal = 'key_recipient' | 'confirmation_needed' | 'key_cap';

/** The decision on a send. */
export type SendDecision =
  | { readonly kind: 'accepted'; readonly reply: object }
  | { readonly kind: 'replayed'; readonly reply: object }
  | { readonly kind: 'refused'; readonly why: RefusalCode }
  | { readonly kind: 'refused'; readonly why: 'policy'; readonly refusal: PolicyRefusal };

/** The units that the keys of a family have spent on a day. */
export interface KeySpending {
  readonly family: string;
  /** Days since the epoch, UTC. */
  readonly day: number;
  /** The charged units. Refunds are not subtracted. */
  readonly units: number;
}

/** The state that a store has read while it had the accounts locked. For the exception see `decide`. */
export interface Seen {
  /** The balance of each account that exists. */
  readonly balances: ReadonlyMap<string, number>;
  /** Replies that have not expired, by `onceId`. */
  readonly replies: ReadonlyMap<string, StoredReply>;
  /** The existing records that the sends' policies name. */
  readonly records: SeenRecords;
  /**
   * The units that the families of keys with a cap have spent on the days of the sends, by `spendingId`. A family that
   * has spent nothing is missing.
   */
  readonly keySpending: ReadonlyMap<string, KeySpending>;
}

/** The decisions on sends, in their order, and the changes to write. */
export interface Decision {
  readonly decisions: readonly SendDecision[];
  readonly accepted: readonly Send[];
  /** Units to debit from each account. */
  readonly spent: ReadonlyMap<string, number>;
  /** Policy records to write. */
  readonly records: RecordChanges;
  /** The units that families have spent including these sends. They replace the values in `Seen`. */
  readonly keySpending: ReadonlyMap<string, KeySpending>;
}

/** The rules of charging and of repeats; see `decide`. */
export type Decide = (sends: readonly Send[], seen: Seen) => Decision;

/** The UTC day of a time, in days since the epoch. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** The seconds from a time until the next UTC day begins. */
export function secondsToMidnight(at: number): number {
  return Math.ceil((DAY_MS * (dayOf(at) + 1) - at) / 1000);
}

/** A family on a day, as one string. */
export function spendingId({ family, day }: Pick<KeySpending, 'family' | 'day'>): string {
  return `${day} ${family}`;
}

/** A send of a key with a cap. */
type CappedSend = Send & { readonly key: SendKey & { readonly dailyUnits: number } };

export function isCapped(send: Send): send is CappedSend {
  return send.key?.dailyUnits !== undefined;
}

/**
 * All rules of charging and of repeats, in one function without side effects. A store runs it after it has locked the
 * accounts and before it writes. There is one exception: on PostgreSQL and MariaDB, for sends without Idempotency-Key,
 * policy and cap, a store may decide before it has a lock (see `OutboxStore.commit`). It then passes balances that
 * suffice for all sends, and the writing statement checks the real ones.
 * Sends are decided in order. A repeat of an Idempotency-Key gets the first reply. A send is accepted only if its
 * policy and the limits of its key allow it, and if the remaining balance and the cap of its key cover its full price. A policy sees the changes
 * of the sends before it.
 */
export const decide: Decide = (sends, seen) => {
  const balances = new Map(seen.balances);
  const spent = new Map<string, number>();
  const replies = new Map<string, StoredReply>();
  const decisions: SendDecision[] = [];
  const accepted: Send[] = [];
  const records = new Map<string, PolicyRecord>();
  const current = new Map(seen.records);
  const keySpending = new Map<string, KeySpending>();

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
    const forbidden = send.key && refusalByKey(send, send.key);
    if (forbidden) {
      decisions.push({ kind: 'refused', why: forbidden });
      continue;
    }
    const decision = send.policy?.decide(current);
    if (decision && 'refusal' in decision) {
      decisions.push({ kind: 'refused', why: 'policy', refusal: decision.refusal });
      continue;
    }
    const cost = costOf(send);
    const spending = isCapped(send) ? spendingAfter(send, cost, seen.keySpending, keySpending) : undefined;
    if (spending && cost > 0 && spending.units > spending.cap) {
      decisions.push({ kind: 'refused', why: 'key_cap' });
      continue;
    }
    if (cost > balance) {
      decisions.push({ kind: 'refused', why: 'insufficient_balance' });
      continue;
    }
    balances.set(send.accountId, balance - cost);
    spent.set(send.accountId, (spent.get(send.accountId) ?? 0) + cost);
    if (spending && cost > 0)
      keySpending.set(spendingId(spending), { family: spending.family, day: spending.day, units: spending.units });
    const final = decision ? { ...send, payload: decision.payload, reply: decision.reply } : send;
    for (const [key, record] of decision?.changes ?? []) {
      records.set(key, record);
      current.set(key, { ...record, lost: false });
    }
    if (once !== undefined && send.once) replies.set(once, { fingerprint: send.once.fingerprint, reply: final.reply });
    accepted.push(final);
    decisions.push({ kind: 'accepted', reply: final.reply });
  }
  return { decisions, accepted, spent, records, keySpending };
};

/** Why the limits of the sending key forbid the send, whatever it has spent; undefined if they do not. */
function refusalByKey(send: Send, { recipients, confirmAbove }: SendKey): KeyRefusal | undefined {
  if (recipients !== undefined) {
    const allowed = new Set(recipients.map(phoneOf));
    if (!send.recipients.every(({ number }) => allowed.has(phoneOf(number)))) return 'key_recipient';
  }
  return confirmAbove !== undefined && costOf(send) > confirmAbove ? 'confirmation_needed' : undefined;
}

/** The units that the family of a send's key will have spent including the send, and the cap. */
function spendingAfter(
  { key: { family, dailyUnits }, at }: CappedSend,
  cost: number,
  seen: ReadonlyMap<string, KeySpending>,
  added: ReadonlyMap<string, KeySpending>,
): KeySpending & { readonly cap: number } {
  const day = dayOf(at);
  const id = spendingId({ family, day });
  const before = (added.get(id) ?? seen.get(id))?.units ?? 0;
  return { family, day, units: before + cost, cap: dailyUnits };
}
