import type { Author } from '../../accounts/audit/audit-entry.js';
import type { EventType } from '../../events/event-types.js';
import type { PingResult } from '../endpoints/endpoint.api.js';
import type { Endpoint } from '../endpoints/endpoint.js';

/** Which events of the log are called again. */
export interface ReplayWindow {
  /** Only events with a higher number. */
  readonly after?: number | undefined;
  /** Only events from this time on, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only events before this time. */
  readonly until?: number | undefined;
  /** Only these types, of those that the endpoint is told of; undefined: all of these. Not empty. */
  readonly types?: readonly EventType[] | undefined;
  /** Only those whose last call has failed. */
  readonly onlyFailed: boolean;
}

/** Calls of an endpoint that its owner asks for; the audit log tells of those that are repeated. Every method throws `StorageUnavailableError` when the database does not answer. */
export abstract class EndpointCalls {
  /** Calls the endpoint with `test.ping`, once, also while it is disabled; never throws for what it answers. */
  abstract ping(endpoint: Endpoint): Promise<PingResult>;

  /**
   * Has one event called again as soon as possible.
   * @returns false where the event is not kept, or not one that the endpoint is told of
   */
  abstract retry(endpoint: Endpoint, sequence: number, by?: Author): Promise<boolean>;

  /**
   * Has the events of a window called again, in the order of their numbers.
   * @returns how many
   */
  abstract replay(endpoint: Endpoint, window: ReplayWindow, by?: Author): Promise<number>;
}
