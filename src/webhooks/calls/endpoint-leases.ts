import type { Clock } from '../../common/clock.js';
import type { EndpointLease, LeasedEndpoint } from './call-records.js';
import type { CallStore } from './call-store.js';

interface Held {
  readonly lease: EndpointLease;
  updatedAt: number;
  /** The stored end of the lease, milliseconds since the epoch. */
  until: number;
  /**
   * The end of the lease by the clock's `elapsed`. The earlier of the two ends counts, because the machine's clock may be set
   * back.
   */
  elapsesAt: number;
}

/** The parts of a lease's time. A lease is renewed after a third of its time. No call begins if less than a sixth is left. */
const PARTS = 6;

/**
 * The leases of this process on endpoints. A lease that has ended is kept until the store says that another process has the
 * endpoint, because a process that was suspended can usually renew it. Meanwhile no call begins.
 */
export class EndpointLeases {
  private readonly held = new Map<string, Held>();

  constructor(
    private readonly owner: string,
    private readonly store: CallStore,
    private readonly clock: Clock,
    private readonly leaseMs: number,
  ) {}

  /** When a lease that is requested now would end, in milliseconds since the epoch. */
  get end(): number {
    return this.clock.now() + this.leaseMs;
  }

  hold({ endpoint, lease }: LeasedEndpoint, until: number): void {
    const { updatedAt } = endpoint;
    this.held.set(lease.endpointId, { lease, updatedAt, until, elapsesAt: this.elapsesAt(until) });
  }

  drop({ endpointId, epoch }: EndpointLease): void {
    if (this.held.get(endpointId)?.lease.epoch === epoch) this.held.delete(endpointId);
  }

  /** Whether this process certainly has the endpoint now. */
  isSafe({ endpointId, epoch }: EndpointLease): boolean {
    const held = this.held.get(endpointId);
    return held?.lease.epoch === epoch && this.leftOf(held) > this.leaseMs / PARTS;
  }

  /** Renews the leases whose time has come. Returns the lost leases, and the leases whose endpoint was changed. */
  async renew(): Promise<{ readonly lost: readonly EndpointLease[]; readonly changed: readonly EndpointLease[] }> {
    const worn = (this.leaseMs * (PARTS - 2)) / PARTS;
    const asked = [...this.held.values()].filter((held) => this.leftOf(held) <= worn);
    if (asked.length === 0) return { lost: [], changed: [] };
    // Computed before the request, so that our end of the lease is never later than the store's.
    const until = this.end;
    const elapsesAt = this.elapsesAt(until);
    const leases = asked.map(({ lease }) => lease);
    const renewed = new Map((await this.store.renew(this.owner, leases, until)).map((one) => [one.endpointId, one]));
    const lost: EndpointLease[] = [];
    const changed: EndpointLease[] = [];
    for (const held of asked) {
      const { lease, updatedAt } = held;
      const one = renewed.get(lease.endpointId);
      if (one?.epoch !== lease.epoch) {
        lost.push(lease);
        continue;
      }
      if (one.updatedAt !== updatedAt) changed.push(lease);
      Object.assign(held, { until, elapsesAt, updatedAt: one.updatedAt });
    }
    return { lost, changed };
  }

  private leftOf({ until, elapsesAt }: Held): number {
    return Math.min(until - this.clock.now(), elapsesAt - this.clock.elapsed());
  }

  private elapsesAt(until: number): number {
    return this.clock.elapsed() + Math.min(until - this.clock.now(), this.leaseMs);
  }
}
