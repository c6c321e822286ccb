import type { Author } from '../../accounts/audit/audit-entry.js';
import type { EventType } from '../../events/event-types.js';
import type { Endpoint } from '../endpoints/endpoint.js';

/** The right of one process to call an endpoint. A later lease has a higher epoch, and what an earlier one writes is refused. */
export interface EndpointLease {
  readonly endpointId: string;
  readonly epoch: number;
}

/** An endpoint that this process calls. */
export interface LeasedEndpoint {
  readonly endpoint: Endpoint;
  readonly lease: EndpointLease;
}

/** What to take. Times in milliseconds since the epoch. */
export interface TakeOrder {
  /** The process; another one for each start. */
  readonly owner: string;
  readonly now: number;
  readonly leaseUntil: number;
  /** Only endpoints of these accounts; undefined: of all, a page of endpoints at a time. */
  readonly accounts?: readonly string[] | undefined;
  /** The page begins behind this id. */
  readonly after?: string | undefined;
  /** The most endpoints that are looked at. */
  readonly limit: number;
}

/** What was taken. */
export interface TakenEndpoints {
  readonly taken: readonly LeasedEndpoint[];
  /** Where the next page begins; undefined: this was the last. */
  readonly next: string | undefined;
}

/** A lease that was prolonged. */
export interface RenewedLease extends EndpointLease {
  /** When the endpoint was last changed, or its owner last asked for calls. */
  readonly updatedAt: number;
}

/** An event that is to be called again. */
export interface PendingCall {
  readonly sequence: number;
  /** Calls so far, since it was last asked for. */
  readonly tries: number;
  readonly dueAt: number;
  /** The `webhook-id` of the batch that it is a part of. */
  readonly batch: string | undefined;
}

/** What a call that failed leaves; without `dueAt` it has failed for good. */
export interface FailedCall extends Omit<PendingCall, 'dueAt'> {
  readonly dueAt: number | undefined;
}

/** A window of the log that is called again. */
export interface Replay {
  readonly id: string;
  /** Up to which number it was called. */
  readonly position: number;
  readonly upTo: number;
  /** Undefined: all types of the endpoint. */
  readonly types: readonly EventType[] | undefined;
}

/** The most replays of an endpoint that have not reached their end. */
export const MAX_REPLAYS = 10;

/** How a call ended. */
export interface CallAnswer {
  readonly ok: boolean;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly reply: string | undefined;
}

/** What differs between calls that ended alike. */
export interface RecordedCall {
  /** The numbers of its events; none where its event is not in the log. */
  readonly sequences: readonly number[];
  readonly at: number;
  readonly ms: number;
}

/** Calls that ended alike, as their owner may see them: one, or a run of those that were answered with yes. */
export interface CallRecord extends CallAnswer {
  /** Of one call: its id. Of a run, see `runIdOf` and `callIdOf`. */
  readonly id: string;
  /** At least one; in a run they begin within `RUN_MS`. */
  readonly calls: readonly RecordedCall[];
}

/** What the calls of an endpoint have changed since the last commit. */
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
  /** Replays with their new position; those that have reached their end are removed. */
  readonly replays: readonly Pick<Replay, 'id' | 'position' | 'upTo'>[];
  readonly disabled: { readonly reason: 'failures' | 'gone'; readonly at: number } | undefined;
}

/** How a window of the log is called again. */
export interface ReplayOrder {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly after: number;
  /** Times of events, milliseconds since the epoch; `since` included, `until` not. */
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly types: readonly EventType[] | undefined;
  readonly at: number;
  /** Who asks for it, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}
