import type { Author } from '../../accounts/audit/audit-entry.js';
import type { EventType } from '../../events/event-types.js';
import type { PingResult } from '../endpoints/endpoint.api.js';
import type { Endpoint } from '../endpoints/endpoint.js';

/** The events of the log to call again. */
export interface ReplayWindow {
  /** Only events with a higher sequence number. */
  readonly after?: number | undefined;
  /** Only events from this time on, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only events before this time. */
  readonly until?: number | undefined;
  /** Only these types, out of those that the endpoint receives. Undefined: all that it receives. Never empty. */
  readonly types?: readonly EventType[] | undefined;
  /** Only events whose last call failed. */
  readonly onlyFailed: boolean;
}

/**
 * Calls of an endpoint that its owner asks for. The audit log records requests to repeat calls. Every method throws
 * `StorageUnavailableError` if the database does not answer.
 */
export abstract class EndpointCalls {
  /** Calls the endpoint with `test.ping`, once, also while it is disabled. It does not throw for any response of the endpoint. */
  abstract ping(endpoint: Endpoint): Promise<PingResult>;

  /**
   * Has one event called again as soon as possible.
   * @returns false if the event is not kept, or if the endpoint does not receive its type
   */
  abstract retry(endpoint: Endpoint, sequence: number, by?: Author): Promise<boolean>;

  /**
   * Has the events of a window called again, in the order of their sequence numbers.
   * @returns how many events are called again
   */
  abstract replay(endpoint: Endpoint, window: ReplayWindow, by?: Author): Promise<number>;
}
