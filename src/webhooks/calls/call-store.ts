import type { Author } from '../../accounts/audit/audit-entry.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { Database } from '../../storage/engine/database.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import { commitCalls } from './call-commits.js';
import { loadEndpoint, releaseEndpoints, renewEndpoints, takeEndpoints } from './call-leases.js';
import {
  CallProgress,
  EndpointLease,
  PendingCall,
  RenewedLease,
  Replay,
  ReplayOrder,
  TakenEndpoints,
  TakeOrder,
} from './call-records.js';
import { addReplay, callAgain, findPending, findReplay, purgeFailed, retryFailed } from './pending-call-rows.js';

/**
 * Persists the changes by calls: leases, cursors, pending calls, records. Every method is one transaction and throws
 * `StorageUnavailableError` if the database does not answer.
 */
export class CallStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /** Takes endpoints that are enabled, that no process has leased, and that have something to call. */
  take(order: TakeOrder): Promise<TakenEndpoints> {
    // This write waits for the disk. If a crash lost it, the same epoch could be given twice, and the earlier owner would not be
    // shut out.
    return this.database.write(() => takeEndpoints(this.database.dialect, order));
  }

  /** Prolongs the leases that this process still has. */
  async renew(owner: string, leases: readonly EndpointLease[], until: number): Promise<readonly RenewedLease[]> {
    if (leases.length === 0) return [];
    return this.database.writeLazily(() => renewEndpoints(this.database.dialect, owner, leases, until));
  }

  /** Returns the current definition of an endpoint. Undefined if the lease is lost, or if the endpoint is disabled or removed. */
  load(owner: string, lease: EndpointLease): Promise<Endpoint | undefined> {
    return this.database.read(() => loadEndpoint(owner, lease));
  }

  async release(owner: string, leases: readonly EndpointLease[]): Promise<void> {
    if (leases.length === 0) return;
    await this.database.writeLazily(() => releaseEndpoints(this.database.dialect, owner, leases));
  }

  /**
   * Returns the first pending calls, ordered by the time at which they are due, or by sequence number. Calls of one batch follow
   * each other.
   */
  pending(endpointId: string, by: 'time' | 'number', limit: number): Promise<readonly PendingCall[]> {
    return this.database.read(() => findPending(endpointId, by, limit));
  }

  /** Returns the first replay of an endpoint. */
  replay(endpointId: string): Promise<Replay | undefined> {
    return this.database.read(() => findReplay(endpointId));
  }

  /**
   * Stores the progress of calls. The part of each endpoint is stored as a whole or not at all, and may be stored again. If an
   * endpoint is disabled, the same transaction publishes `endpoint.disabled`.
   *
   * @returns the endpoints whose leases this process still has. For other leases nothing is stored
   */
  commit(owner: string, progress: readonly CallProgress[]): Promise<ReadonlySet<string>> {
    const { dialect } = this.database;
    if (progress.some(({ disabled }) => disabled !== undefined)) {
      return this.recorder.write(({ publish }) => commitCalls(dialect, owner, progress, publish));
    }
    const work = () => commitCalls(dialect, owner, progress, () => undefined);
    // A database that crashes may lose what was not on disk, while this process goes on from its cursor. A failed call would then
    // never be tried again, so failed calls wait for the disk. If other progress is lost, its events are only called again.
    if (progress.some(({ failed }) => failed.length > 0)) return this.database.write(work);
    return this.database.writeLazily(work);
  }

  /**
   * Requests another call of an event, as soon as possible. If the event's first call is still to come, nothing more is needed.
   * Returns false if the event is not kept, or if the endpoint does not receive its type. The audit log records the request. It
   * records the next two methods if they call any event.
   */
  callAgain(endpoint: Endpoint, sequence: number, now: number, by?: Author): Promise<boolean> {
    return this.database.write(() => callAgain(this.database.dialect, endpoint, sequence, now, by));
  }

  /**
   * Requests new calls of the events in a window, and returns how many they are. A window by time ends at the first event that is
   * later.
   * @throws MessagingError `error.too_many_replays` if the endpoint has `MAX_REPLAYS` unfinished replays, which a lock decides
   */
  addReplay(order: ReplayOrder): Promise<number> {
    return this.database.write(() => addReplay(this.database.dialect, order));
  }

  /** Requests new calls of those events in a window that failed for good, and returns how many they are. */
  retryFailed(order: ReplayOrder): Promise<number> {
    return this.database.write(() => retryFailed(this.database.dialect, order));
  }

  /** Removes records of calls before a moment, at most `limit`. Returns how many it removed. */
  purgeRecords(before: number, limit: number): Promise<number> {
    const sql = this.database.dialect.deleteFirst('messaging_endpoint_attempt', 'id', 'at');
    return this.database.writeLazily(function* () {
      return (yield { sql, params: [before, limit] }).affected;
    });
  }

  /** Removes calls that failed for good if their events are no longer kept. Returns how many it removed. */
  purgeFailed(limit: number): Promise<number> {
    return this.database.writeLazily(() => purgeFailed(this.database.dialect, limit));
  }
}
