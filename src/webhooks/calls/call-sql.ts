import type { Author } from '../../accounts/audit/audit.js';
import type { EventRecorder } from '../../events/event-recorder.js';
import type { Executor } from '../../storage/engine/executor.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import { commitCalls } from './call-commits.js';
import { loadEndpoint, releaseEndpoints, renewEndpoints, takeEndpoints } from './call-leases.js';
import {
  type CallProgress,
  CallStore,
  type EndpointLease,
  type PendingCall,
  type RenewedLease,
  type Replay,
  type ReplayOrder,
  type TakenEndpoints,
  type TakeOrder,
} from './call-store.js';
import { addReplay, callAgain, findPending, findReplay, purgeFailed, retryFailed } from './pending-call-rows.js';

/** The calls of endpoints in SQL. */
export class TypeormCallStore extends CallStore {
  constructor(
    private readonly executor: Executor,
    private readonly recorder: EventRecorder,
  ) {
    super();
  }

  override take(order: TakeOrder): Promise<TakenEndpoints> {
    // Waits for the disk: an epoch that is given twice would not fence off the earlier owner.
    return this.executor.write(() => takeEndpoints(this.executor.dialect, order));
  }

  override async renew(
    owner: string,
    leases: readonly EndpointLease[],
    until: number,
  ): Promise<readonly RenewedLease[]> {
    if (leases.length === 0) return [];
    return this.executor.writeLazily(() => renewEndpoints(this.executor.dialect, owner, leases, until));
  }

  override load(owner: string, lease: EndpointLease): Promise<Endpoint | undefined> {
    return this.executor.read(() => loadEndpoint(owner, lease));
  }

  override async release(owner: string, leases: readonly EndpointLease[]): Promise<void> {
    if (leases.length === 0) return;
    await this.executor.writeLazily(() => releaseEndpoints(this.executor.dialect, owner, leases));
  }

  override pending(endpointId: string, by: 'time' | 'number', limit: number): Promise<readonly PendingCall[]> {
    return this.executor.read(() => findPending(endpointId, by, limit));
  }

  override replay(endpointId: string): Promise<Replay | undefined> {
    return this.executor.read(() => findReplay(endpointId));
  }

  override commit(owner: string, progress: readonly CallProgress[]): Promise<ReadonlySet<string>> {
    const { dialect } = this.executor;
    if (progress.some(({ disabled }) => disabled !== undefined)) {
      return this.recorder.write(({ tell }) => commitCalls(dialect, owner, progress, tell));
    }
    const work = () => commitCalls(dialect, owner, progress, () => undefined);
    // A database that ends at once may forget what was not on disk, while this process goes on from its cursor: a call that
    // failed would never be tried again. All else that is lost is called again.
    if (progress.some(({ failed }) => failed.length > 0)) return this.executor.write(work);
    return this.executor.writeLazily(work);
  }

  override callAgain(endpoint: Endpoint, sequence: number, now: number, by?: Author): Promise<boolean> {
    return this.executor.write(() => callAgain(this.executor.dialect, endpoint, sequence, now, by));
  }

  override addReplay(order: ReplayOrder): Promise<number> {
    return this.executor.write(() => addReplay(this.executor.dialect, order));
  }

  override retryFailed(order: ReplayOrder): Promise<number> {
    return this.executor.write(() => retryFailed(this.executor.dialect, order));
  }

  override purgeRecords(before: number, limit: number): Promise<number> {
    const sql = this.executor.dialect.deleteFirst('messaging_endpoint_attempt', 'id', 'at');
    return this.executor.writeLazily(function* () {
      return (yield { sql, params: [before, limit] }).affected;
    });
  }

  override purgeFailed(limit: number): Promise<number> {
    return this.executor.writeLazily(() => purgeFailed(this.executor.dialect, limit));
  }
}
