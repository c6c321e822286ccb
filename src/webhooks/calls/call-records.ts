import type { Author } from '../../accounts/audit/audit-entry.js';
import type { EventType } from '../../events/event-types.js';
import type { FaultReason } from '../../events/events.api.js';
import type { Endpoint } from '../endpoints/endpoint.js';

/**
 * The right of one process to call an endpoint. A later lease has a higher epoch, and the store refuses what an earlier lease
 * writes.
 */
export interface EndpointLease {
  readonly endpointId: string;
  readonly epoch: number;
}

/** An endpoint that this process calls. */
export interface LeasedEndpoint {
  readonly endpoint: Endpoint;
  readonly lease: EndpointLease;
}

/** A request for leases. Times are in milliseconds since the epoch. */
export interface TakeOrder {
  /** The name of the process. Each start has a new one. */
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
  /** Only endpoints of these accounts. Undefined: endpoints of all accounts, a page at a time. */
  readonly accounts?: readonly string[] | undefined;
  /** The page begins after this id. */
  readonly after?: string | undefined;
  /** The largest number of endpoints to look at. */
  readonly limit: number;
}

/** The endpoints that this process has leased. */
export interface TakenEndpoints {
  readonly taken: readonly LeasedEndpoint[];
  /** The `after` of the next page. Undefined: this was the last page. */
  readonly next: string | undefined;
}

/** A lease that was prolonged. */
export interface RenewedLease extends EndpointLease {
  /** When the endpoint was last changed, or when its owner last asked for calls. Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** An event that is to be called again. */
export interface PendingCall {
  readonly sequence: number;
  /** How many calls were made since somebody last asked for this event. */
  readonly tries: number;
  readonly dueAt: number;
  /** The `webhook-id` of the batch that has the event. */
  readonly batch: string | undefined;
}

/** A call that failed. Without `dueAt` it has failed for good. */
export interface FailedCall extends Omit<PendingCall, 'dueAt'> {
  readonly dueAt: number | undefined;
}

/** A window of the log that is called again. */
export interface Replay {
  readonly id: string;
  /** The sequence number up to which the window was called. */
  readonly position: number;
  readonly upTo: number;
  /** Undefined: all types that the endpoint receives. */
  readonly types: readonly EventType[] | undefined;
}

/** How many unfinished replays an endpoint may have. */
export const MAX_REPLAYS = 10;

/** How a call ended. */
export interface CallAnswer {
  readonly ok: boolean;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly reply: string | undefined;
}

/** The values of a call that differ between calls with the same result. */
export interface RecordedCall {
  /** The sequence numbers of its events. Empty if its event is not in the log. */
  readonly sequences: readonly number[];
  readonly at: number;
  readonly ms: number;
}

/** Calls with the same result, as the endpoint's owner may see them: one call, or a run of successful calls. */
export interface CallRecord extends CallAnswer {
  /** The id of a single call. For the id of a run, see `runIdOf` and `callIdOf`. */
  readonly id: string;
  /** At least one call. The calls of a run begin within `RUN_MS`. */
  readonly calls: readonly RecordedCall[];
}

/** The changes by the calls of an endpoint since the last commit. */
export interface CallProgress {
  readonly lease: EndpointLease;
  /** The number up to which events were called or are pending. */
  readonly cursor: number;
  readonly failingSince: number | undefined;
  readonly restsUntil: number | undefined;
  /** Pending calls that have ended. */
  readonly done: readonly number[];
  readonly failed: readonly FailedCall[];
  readonly records: readonly CallRecord[];
  /** Replays with their new positions. A replay that has reached its end is removed. */
  readonly replays: readonly Pick<Replay, 'id' | 'position' | 'upTo'>[];
  readonly disabled: { readonly reason: FaultReason; readonly at: number } | undefined;
}

/** A request to call a window of the log again. */
export interface ReplayOrder {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly after: number;
  /** Times of events, in milliseconds since the epoch. `since` is part of the window, `until` is not. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly types: readonly EventType[] | undefined;
  readonly at: number;
  /** Who asks for the replay, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}
