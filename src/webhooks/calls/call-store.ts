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
 * Persists what calls change of endpoints: leases, cursors, pending calls, records. Every method is one transaction and throws
 * `StorageUnavailableError` when the database does not answer.
 */
export class CallStore {
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
  }

  /** Takes the endpoints that are enabled, leased by nobody, and have something to be called with. */
  take(order: TakeOrder): Promise<TakenEndpoints> {
    // Waits for the disk: an epoch that is given twice would not fence off the earlier owner.
    return this.database.write(() => takeEndpoints(this.database.dialect, order));
  }

  /** Prolongs the leases that are still ours. */
  async renew(owner: string, leases: readonly EndpointLease[], until: number): Promise<readonly RenewedLease[]> {
    if (leases.length === 0) return [];
    return this.database.writeLazily(() => renewEndpoints(this.database.dialect, owner, leases, until));
  }

  /** The endpoint as it is defined now; undefined where the lease is lost, or the endpoint is disabled or removed. */
  load(owner: string, lease: EndpointLease): Promise<Endpoint | undefined> {
    return this.database.read(() => loadEndpoint(owner, lease));
  }

  async release(owner: string, leases: readonly EndpointLease[]): Promise<void> {
    if (leases.length === 0) return;
    await this.database.writeLazily(() => releaseEndpoints(this.database.dialect, owner, leases));
  }

  /** The first pending calls: by the time at which they are due, or by number. Those of one batch follow each other. */
  pending(endpointId: string, by: 'time' | 'number', limit: number): Promise<readonly PendingCall[]> {
    return this.database.read(() => findPending(endpointId, by, limit));
  }

  /** The first replay of an endpoint. */
  replay(endpointId: string): Promise<Replay | undefined> {
    return this.database.read(() => findReplay(endpointId));
  }

  /**
   * Stores what was called; each endpoint's part as a whole. It may be repeated. A disabled endpoint is told as
   * `endpoint.disabled` in the same transaction.
   *
   * @returns the endpoints of which a lease is still ours; nothing is stored for the other leases
   */
  commit(owner: string, progress: readonly CallProgress[]): Promise<ReadonlySet<string>> {
    const { dialect } = this.database;
    if (progress.some(({ disabled }) => disabled !== undefined)) {
      return this.recorder.write(({ publish }) => commitCalls(dialect, owner, progress, publish));
    }
    const work = () => commitCalls(dialect, owner, progress, () => undefined);
    // A database that ends at once may forget what was not on disk, while this process goes on from its cursor: a call that
    // failed would never be tried again. All else that is lost is called again.
    if (progress.some(({ failed }) => failed.length > 0)) return this.database.write(work);
    return this.database.writeLazily(work);
  }

  /**
   * Has an event called again as soon as possible, or leaves it to its first call, where that is to come yet. False: it is not kept,
   * or of a type that the endpoint is not told of. Told in the audit log, as are the next two where they call any event.
   */
  callAgain(endpoint: Endpoint, sequence: number, now: number, by?: Author): Promise<boolean> {
    return this.database.write(() => callAgain(this.database.dialect, endpoint, sequence, now, by));
  }

  /**
   * Has a window called again; returns the number of its events. Windows by time end where the log's times pass theirs.
   * @throws MessagingError `error.too_many_replays` where `MAX_REPLAYS` of the endpoint are pending, decided under a lock
   */
  addReplay(order: ReplayOrder): Promise<number> {
    return this.database.write(() => addReplay(this.database.dialect, order));
  }

  /** Has the events of a window that failed for good called again; returns their number. */
  retryFailed(order: ReplayOrder): Promise<number> {
    return this.database.write(() => retryFailed(this.database.dialect, order));
  }

  /** Removes records of calls before a moment; returns how many. */
  purgeRecords(before: number, limit: number): Promise<number> {
    const sql = this.database.dialect.deleteFirst('messaging_endpoint_attempt', 'id', 'at');
    return this.database.writeLazily(function* () {
      return (yield { sql, params: [before, limit] }).affected;
    });
  }

  /** Forgets calls that failed for good, where their events are no longer kept; returns how many. */
  purgeFailed(limit: number): Promise<number> {
    return this.database.writeLazily(() => purgeFailed(this.database.dialect, limit));
  }
}
