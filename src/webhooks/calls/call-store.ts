import type { Author } from '../../accounts/audit/audit.js';
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

/**
 * Persists what calls change of endpoints: leases, cursors, pending calls, records. Every method is one transaction and throws
 * `StorageUnavailableError` when the database does not answer.
 */
export abstract class CallStore {
  /** Takes the endpoints that are enabled, leased by nobody, and have something to be called with. */
  abstract take(order: TakeOrder): Promise<TakenEndpoints>;

  /** Prolongs the leases that are still ours. */
  abstract renew(owner: string, leases: readonly EndpointLease[], until: number): Promise<readonly RenewedLease[]>;

  /** The endpoint as it is defined now; undefined where the lease is lost, or the endpoint is disabled or removed. */
  abstract load(owner: string, lease: EndpointLease): Promise<Endpoint | undefined>;

  abstract release(owner: string, leases: readonly EndpointLease[]): Promise<void>;

  /** The first pending calls: by the time at which they are due, or by number. Those of one batch follow each other. */
  abstract pending(endpointId: string, by: 'time' | 'number', limit: number): Promise<readonly PendingCall[]>;

  /** The first replay of an endpoint. */
  abstract replay(endpointId: string): Promise<Replay | undefined>;

  /**
   * Stores what was called; each endpoint's part as a whole. It may be repeated. A disabled endpoint is told as
   * `endpoint.disabled` in the same transaction.
   *
   * @returns the endpoints of which a lease is still ours; nothing is stored for the other leases
   */
  abstract commit(owner: string, progress: readonly CallProgress[]): Promise<ReadonlySet<string>>;

  /**
   * Has an event called again as soon as possible, or leaves it to its first call, where that is to come yet. False: it is not kept,
   * or of a type that the endpoint is not told of. Told in the audit log, as are the next two where they call any event.
   */
  abstract callAgain(endpoint: Endpoint, sequence: number, now: number, by?: Author): Promise<boolean>;

  /**
   * Has a window called again; returns the number of its events. Windows by time end where the log's times pass theirs.
   * @throws MessagingError `error.too_many_replays` where `MAX_REPLAYS` of the endpoint are pending, decided under a lock
   */
  abstract addReplay(order: ReplayOrder): Promise<number>;

  /** Has the events of a window that failed for good called again; returns their number. */
  abstract retryFailed(order: ReplayOrder): Promise<number>;

  /** Removes records of calls before a moment; returns how many. */
  abstract purgeRecords(before: number, limit: number): Promise<number>;

  /** Forgets calls that failed for good, where their events are no longer kept; returns how many. */
  abstract purgeFailed(limit: number): Promise<number>;
}
