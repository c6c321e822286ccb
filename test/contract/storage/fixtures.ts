import { SECOND_MS } from '../../../src/common/time.js';
import type { NewSession } from '../../../src/msgapp/sessions/session-records.js';
import type { IdempotencyKey, Send } from '../../../src/outbox/accept/send.js';
import type { DeliveryTransition } from '../../../src/outbox/outbox-records.js';
import type { PhoneMessage } from '../../../src/sandbox/phones/phone-store.js';
import type { DatedReceipt, TakenSms } from '../../../src/sms/receipts/sms-part.js';

/** The start time of all tests: 2026-11-21T10:00:00Z, in milliseconds since the epoch. */
export const START = Date.UTC(2026, 10, 21, 10);

/** The account that most tests use. */
export const ACCOUNT = 'acc1';

/** The integers from 0 to `count` - 1. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** A message id; ids sort by index, as real ids sort by time. */
export function messageId(index: number): string {
  return `msg-${String(index).padStart(6, '0')}`;
}

/** A distinct phone number for each index. */
export function phone(index: number): string {
  return `2267${String(index).padStart(7, '0')}`;
}

/** A send of one unit to one number of `ACCOUNT`, changed by `over`. */
export function aSend(index: number, over: Partial<Send> = {}): Send {
  const id = messageId(index);
  return {
    id,
    accountId: ACCOUNT,
    channel: 'sms',
    sender: 'INFOS',
    payload: { kind: 'text', text: 'Bonjour' },
    recipients: [{ number: phone(index), units: 1 }],
    at: START,
    reply: { smsID: id },
    ...over,
  };
}

/** `count` recipients of `units` each. */
export function recipients(count: number, units = 1): Send['recipients'] {
  return range(count).map((index) => ({ number: phone(index), units }));
}

/** The first recipient of `aSend(index)` at its delivery. */
export function aMove(index: number, over: Partial<DeliveryTransition> = {}): DeliveryTransition {
  const { id, accountId, channel, sender, at } = aSend(index);
  const move = {
    messageId: id,
    position: 0,
    accountId,
    channel,
    sender,
    number: phone(0),
    status: 'delivered',
  } as const;
  const units = { units: 1, refund: 0, refundedUnits: 0 };
  return { ...move, ...units, error: undefined, acceptedAt: at, metadata: undefined, at, ...over };
}

/** An Idempotency-Key of `ACCOUNT`, valid for a day, changed by `over`. */
export function onceKey(over: Partial<IdempotencyKey> = {}): IdempotencyKey {
  const day = 86_400 * SECOND_MS;
  return { accountId: ACCOUNT, route: 'send/sms', key: 'key', fingerprint: 'f1', expiresAt: START + day, ...over };
}

/** A session id; ids sort by index, as real ids sort by time. */
export function sessionId(index: number): string {
  return `session-${String(index).padStart(6, '0')}`;
}

/** A new session of `ACCOUNT` on `wa`, held by `p1` for 30 seconds, changed by `over`. */
export function aSession(index: number, over: Partial<NewSession> = {}): NewSession {
  return {
    id: sessionId(index),
    accountId: ACCOUNT,
    channel: 'wa',
    createdAt: START + index,
    owner: 'p1',
    leaseUntil: START + 30 * SECOND_MS,
    ...over,
  };
}

/** A text on a sandbox phone, changed by `over`. */
export function aPhoneMessage(index: number, over: Partial<PhoneMessage> = {}): PhoneMessage {
  return {
    messageId: messageId(index),
    channel: 'sms',
    from: 'INFOS',
    to: phone(1),
    text: 'Bonjour',
    media: undefined,
    receivedAt: START + index,
    ...over,
  };
}

/** The SMS of `aSend(index)`, accepted by the carrier `link` in the first attempt, in one part, changed by `over`. */
export function aTakenSms(index: number, over: Partial<TakenSms> = {}): TakenSms {
  return {
    messageId: messageId(index),
    position: 0,
    attempt: 1,
    number: phone(index),
    route: 'link',
    carrierIds: [`id-${index}`],
    at: START + SECOND_MS,
    expiresAt: START + 86_400 * SECOND_MS,
    trail: [],
    ...over,
  };
}

/** A receipt of `link` for a part, by default `delivered`, changed by `over`. */
export function aReceipt(id: string, over: Partial<DatedReceipt> = {}): DatedReceipt {
  return { route: 'link', ids: [id], status: 'delivered', at: START + 5 * SECOND_MS, ...over };
}
