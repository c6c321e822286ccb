import type { Metadata } from '../events/event-types.js';
import type { Payload } from './payload.js';
import type { Priority } from './priority.js';
import type { SendPolicy } from './send-policy.js';

export type { Payload, TextPayload } from './payload.js';

/** A recipient and its price in units. */
export interface Recipient {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** Integer, at least 0. */
  readonly units: number;
  /** Stores the recipient as `failed` with this reason and sends nothing to it. Its `units` are then 0. */
  readonly refused?: string;
}

/** An Idempotency-Key with its scope. */
export interface IdempotencyKey {
  readonly accountId: string;
  /** The name of the route; the same key may be used on another one. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the canonical request body. */
  readonly fingerprint: string;
  /** When the reply expires, milliseconds since the epoch. */
  readonly expiresAt: number;
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
  /** Each number once. */
  readonly recipients: readonly Recipient[];
  /** When it was accepted, milliseconds since the epoch. */
  readonly at: number;
  /** The reply to the caller, JSON; stored for replays when `once` is given. */
  readonly reply: object;
  /** Accepts the send once, however often this key comes. */
  readonly once?: IdempotencyKey;
  /** A further condition; its decision replaces the payload and the reply above. */
  readonly policy?: SendPolicy;
}

/** The price of a send in units: the sum over its recipients. */
export function costOf(send: Send): number {
  let cost = 0;
  for (const recipient of send.recipients) cost += recipient.units;
  return cost;
}
