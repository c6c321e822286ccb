import type { IdempotencyKey } from '../../common/idempotency-key.js';
import type { Metadata } from '../../events/events.api.js';
import type { Payload } from '../payload.js';
import type { SendPolicy } from '../policy/send-policy.js';
import type { Priority } from '../queue/priority.api.js';

export type { IdempotencyKey } from '../../common/idempotency-key.js';
export type { Payload, TextPayload } from '../payload.js';

/** A recipient and its price in units. */
export interface Recipient {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** Integer, at least 0. */
  readonly units: number;
  /** Stores the recipient as `failed` with this reason and sends nothing to it. Its `units` are then 0. */
  readonly refused?: string;
}

/** The API key of a caller, for a send: `caller.key` of a guarded route. */
export interface SendKey {
  /** Its public part. */
  readonly id: string;
  /** The most units that the keys of the family may spend on a day (UTC); undefined: as many as the account has. */
  readonly dailyUnits?: number | undefined;
  /** The first of the keys that have replaced one another; they share what they have spent. */
  readonly family: string;
}

/** A message to one or more recipients, priced and complete, with its id and the reply to the caller. */
export interface Send {
  readonly id: string;
  readonly accountId: string;
  /** Name of the channel that delivers it: `sms`, or a messaging-app channel's name. */
  readonly channel: string;
  /** Deliveries of one lane keep their order, and at most one is in flight. Without a lane they are independent. */
  readonly lane?: string;
  /** Default `normal`. */
  readonly priority?: Priority;
  /** Signature or sending number. */
  readonly sender: string;
  readonly payload: Payload;
  /** What its caller gave with it. */
  readonly metadata?: Metadata | undefined;
  /** The span of its acceptance as W3C `traceparent`, where it is recorded: what happens to it later is linked to that. */
  readonly trace?: string;
  /** Each number once. */
  readonly recipients: readonly Recipient[];
  /** When it was accepted, milliseconds since the epoch. */
  readonly at: number;
  /** The reply to the caller, JSON; stored for replays when `once` is given. */
  readonly reply: object;
  /** Accepts the send once, however often this key comes. */
  readonly once?: IdempotencyKey;
  /** The key that sends it, whose cap it must keep; undefined for a user and for the host's own code. */
  readonly key?: SendKey | undefined;
  /** A further condition; its decision replaces the payload and the reply above. */
  readonly policy?: SendPolicy;
}

/** The price of a send in units: the sum over its recipients. */
export function costOf(send: Send): number {
  let cost = 0;
  for (const recipient of send.recipients) cost += recipient.units;
  return cost;
}
