import type { DeliveryData } from '../../events/events.api.js';
import type { StatusCallback } from './status-callback.js';

/** A status of one recipient. */
export interface ToldDelivery extends DeliveryData {
  /** When it was reached, in milliseconds since the epoch. */
  readonly at: number;
}

/** A call that tells a status: a POST with a body, a GET without one. */
export interface StatusCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/**
 * Makes the call for a status. Undefined: it is not told.
 * @param key the API key of the send, if it is stored and its pepper is still configured
 */
export type MakeCall = (
  callback: StatusCallback,
  delivery: ToldDelivery,
  key: string | undefined,
) => StatusCall | undefined;
