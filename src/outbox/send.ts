import type { Payload } from './payload.js';
import type { SendPolicy } from './send-policy.js';

export type { Payload, TextPayload } from './payload.js';

/** One recipient and its price in units. */
export interface Recipient {
  /** E.164 digits without the plus sign. */
  readonly number: string;
  /** Integer, at least 0. */
  readonly units: number;
  /** Why it is not sent: it is stored as `failed` with this reason and never handed over. Its `units` are 0. */
  readonly refused?: string;
}

/** An Idempotency-Key with everything that scopes it. */
export interface IdempotencyKey {
  readonly accountId: string;
  /** The route's name, so that one key may serve on two routes. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the canonical request body. */
  readonly fingerprint: string;
  /** Milliseconds since the epoch after which the reply is forgotten. */
  readonly expiresAt: number;
}

/** Something that costs money and is to be sent: final before it reaches the store, its id and answer included. */
export interface Send {
  readonly id: string;
  readonly accountId: string;
  /** Name of the channel that delivers it: `sms`, or a messaging-app channel's name. */
  readonly channel: string;
  /** Within one lane deliveries keep their order and at most one is in flight; without a lane they are independent. */
  readonly lane?: string;
  /** Signature or sending number. */
  readonly sender: string;
  readonly payload: Payload;
  /** Without repeats. */
  readonly recipients: readonly Recipient[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The answer to the caller, JSON; kept for replays when `once` is given. */
  readonly reply: object;
  readonly once?: IdempotencyKey;
  /** A further condition; its verdict gives the payload and the reply in the place of those above. */
  readonly guard?: SendPolicy;
}

/** Units a send costs: the sum over its recipients. */
export function costOf(send: Send): number {
  let cost = 0;
  for (const recipient of send.recipients) cost += recipient.units;
  return cost;
}
