import type { IdempotencyKey } from '../../common/idempotency-key.js';
import type { Variables } from '../../common/text/personal-text.js';
import type { Metadata } from '../../events/events.api.js';
import type { Payload } from '../payload.js';
import type { SendPolicy } from '../policy/send-policy.js';
import type { Priority } from '../queue/priority.api.js';
import type { Schedule } from '../schedule/schedule.js';
import type { SendStep } from './send-step.js';

export type { IdempotencyKey } from '../../common/idempotency-key.js';
export type { Payload, TextPayload } from '../payload.js';

/** A recipient and its price in units. */
export interface Recipient {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** The price, an integer of at least 0. */
  readonly units: number;
  /** Stores the recipient as `failed` with this reason and sends nothing to it. Its `units` are then 0. */
  readonly refused?: string;
  /** The values of the variables of a personal text (`PersonalPayload`). */
  readonly vars?: Variables;
  /** When it is due, milliseconds since the epoch, if the recipients differ. Undefined: see `Send.dueAt`. */
  readonly dueAt?: number;
}

/** The API key of a caller, for a send: `caller.key` of a guarded route. */
export interface SendKey {
  /** The public part of the key. */
  readonly id: string;
  /** The maximum number of units that the keys of the family may spend in a UTC day; undefined: no cap. */
  readonly dailyUnits?: number | undefined;
  /** The only numbers that the key may send to, E.164 digits without the plus sign; undefined: all. */
  readonly recipients?: readonly string[] | undefined;
  /** A send that costs more units than this is refused; undefined: none is. */
  readonly confirmAbove?: number | undefined;
  /** The id of the first key of the family. The keys of a family share one count of spent units. */
  readonly family: string;
}

/** A message to one or more recipients, priced and complete, with its id and the reply to the caller. */
export interface Send {
  readonly id: string;
  readonly accountId: string;
  /** The name of the channel that delivers it: `sms`, or the name of a messaging-app channel. */
  readonly channel: string;
  /** Deliveries of one lane keep their order, and at most one is in flight. Without a lane they are independent. */
  readonly lane?: string;
  /** Default `normal`. */
  readonly priority?: Priority;
  /** Signature or sending number. */
  readonly sender: string;
  readonly payload: Payload;
  /** The metadata that the caller gave with the send. */
  readonly metadata?: Metadata | undefined;
  /** The span of the acceptance as W3C `traceparent`, if it is recorded. Later spans of the send are linked to it. */
  readonly trace?: string;
  /** The recipients. Each number may occur only once. */
  readonly recipients: readonly Recipient[];
  /** When it was accepted, milliseconds since the epoch. */
  readonly at: number;
  /**
   * When its recipients are due, milliseconds since the epoch, for example at the next opening of the window. Undefined:
   * at `schedule.sendAt`, or at once.
   */
  readonly dueAt?: number | undefined;
  /** When its recipients may be handed over. Undefined: from the acceptance on, without an end. */
  readonly schedule?: Schedule | undefined;
  /** The reply to the caller, JSON. If `once` is given, it is stored for replays. */
  readonly reply: object;
  /** The Idempotency-Key of the send. The send is accepted once, however often the key comes. */
  readonly once?: IdempotencyKey;
  /**
   * The API key that sends it. The send must stay within the key's cap. Undefined for a user and for the host's own
   * code.
   */
  readonly key?: SendKey | undefined;
  /** A further condition. Its decision replaces `payload` and `reply`. */
  readonly policy?: SendPolicy;
  /** A change of other rows that is stored in the send's transaction. */
  readonly step?: SendStep;
  /**
   * If given, the recipients are stored as `sending`, with their first attempt and a lease until this time,
   * milliseconds since the epoch. Only the outbox gives it, to sends that this process delivers at once.
   */
  readonly leaseUntil?: number;
}

/** The price of a send in units: the sum over its recipients. */
export function costOf(send: Send): number {
  let cost = 0;
  for (const recipient of send.recipients) cost += recipient.units;
  return cost;
}
