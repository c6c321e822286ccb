import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { Rounds } from '../../common/concurrency/rounds.js';
import { IdGenerator } from '../../common/ids.js';
import { type FaultLog, faultCode, faultLog, reasonOf } from '../../common/log.js';
import { Notifier } from '../../common/notifier.js';
import { EventLog } from '../../events/event-log.js';
import { DispatchSettings, roleDelivers } from '../../outbox/delivery/dispatch-options.js';
import { IdleTimer } from '../../outbox/delivery/idle-timer.js';
import { EndpointSecrets } from '../endpoints/endpoint-secret.js';
import { EventViews } from '../event-view.js';
import { type LeasedEndpoint } from './call-records.js';
import { CallSlots } from './call-slots.js';
import { CallSpans } from './call-spans.js';
import { CallStore } from './call-store.js';
import { type CallContext, EndpointCaller } from './endpoint-caller.js';
import { EndpointLeases } from './endpoint-leases.js';
import { CallRequests } from './http/call-request.js';
import { WebhookHttp } from './http/webhook-http.js';
import { ProgressWriter } from './progress-writer.js';

/** The settings with which a process calls endpoints. */
@Injectable()
export class CallSettings {
  /** How long a lease on an endpoint lasts without renewal, in milliseconds. After a crash, another process waits so long. */
  readonly leaseMs: number = 10_000;
  /** How many running calls of the process may be younger than a second. */
  readonly slots: number = 256;
}

/** The shortest time between two searches for endpoints of accounts with new events, in milliseconds. */
const LOOK_MS = 20;

/** How many endpoints one search for work reads. */
const PAGE = 500;

/**
 * Calls endpoints with the events of their accounts, in processes of the roles `all` and `worker`. New events and changes of
 * endpoints wake it, and it looks by itself every `pollMs`. One process at a time calls an endpoint.
 */
@Injectable()
export class WebhookDispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log: FaultLog;
  private readonly owner: string;
  private readonly idle: IdleTimer;
  private readonly leases: EndpointLeases;
  private readonly writer: ProgressWriter;
  private readonly context: CallContext;
  private readonly callers = new Map<string, EndpointCaller>();
  private readonly ending = new Set<Promise<void>>();
  /** Accounts with new events or changed endpoints. */
  private readonly woken = new Set<string>();
  private readonly stops: (() => void)[] = [];
  /** How often it looks without a notice, in milliseconds. It is often enough to renew the leases in time. */
  private readonly pollMs: number;
  private running: Promise<void> = Promise.resolve();
  /** When it last looked, by the clock's `elapsed`. */
  private lastPoll = Number.NEGATIVE_INFINITY;
  private place: string | undefined;

  constructor(
    private readonly store: CallStore,
    private readonly events: EventLog,
    views: EventViews,
    http: WebhookHttp,
    secrets: EndpointSecrets,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    ids: IdGenerator,
    private readonly dispatch: DispatchSettings,
    settings: CallSettings,
    private readonly rounds: Rounds,
    spans?: CallSpans,
  ) {
    this.owner = ids.next();
    this.log = faultLog('Webhooks', clock);
    this.idle = new IdleTimer(clock);
    this.pollMs = Math.min(dispatch.pollMs, settings.leaseMs / 6);
    this.leases = new EndpointLeases(this.owner, store, clock, settings.leaseMs);
    const lost = (caller: EndpointCaller) => this.lose(caller);
    this.writer = new ProgressWriter(this.owner, store, clock, lost, this.idle.signal);
    this.context = {
      views,
      store,
      http,
      clock,
      ids,
      pollMs: this.pollMs,
      requests: new CallRequests(secrets),
      slots: new CallSlots(settings.slots, clock),
      spans,
      isOurs: (lease) => this.leases.isSafe(lease),
      changed: (caller, isAwaited) => this.writer.add(caller, isAwaited),
      disabled: (caller) => void this.end(caller),
    };
  }

  onApplicationBootstrap(): void {
    if (!roleDelivers(this.dispatch.role, 'no lanes')) return;
    this.stops.push(
      this.events.listen(({ accounts }) => this.wake(accounts)),
      this.notifier.listen('event', (account) => this.wake([account])),
      this.notifier.listen('endpoint', (account) => void this.reload(account)),
    );
    this.running = this.run();
  }

  /** Ends running calls within `dispatch.shutdownMs`, stores their results, and gives the endpoints to other processes. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stops.splice(0)) stop();
    this.idle.stop();
    await this.running;
    await Promise.all([...this.callers.values()].map((caller) => this.end(caller)));
    await Promise.all(this.ending);
  }

  private wake(accounts: readonly string[]): void {
    for (const account of accounts) this.woken.add(account);
    for (const caller of this.callers.values()) {
      if (accounts.includes(caller.endpoint.accountId)) caller.look();
    }
    this.idle.notify();
  }

  /** Loads endpoints of an account that were changed, or whose events must be called again. */
  private async reload(account: string): Promise<void> {
    this.wake([account]);
    const callers = [...this.callers.values()].filter(({ endpoint }) => endpoint.accountId === account);
    await Promise.all(callers.map((caller) => this.redefine(caller)));
  }

  private async redefine(caller: EndpointCaller): Promise<void> {
    try {
      const endpoint = await this.store.load(this.owner, caller.lease);
      if (endpoint) caller.redefine(endpoint);
      // This is not awaited, because its calls may take longer than the leases of the other endpoints.
      else void this.end(caller);
    } catch (error) {
      const { endpointId } = caller.lease;
      const fields = { code: faultCode(error), endpointId };
      this.log.warn('An endpoint could not be loaded.', fields, ` ${endpointId}: ${reasonOf(error)}`);
    }
  }

  private async run(): Promise<void> {
    const rounds = this.rounds.start('webhooks', { everyMs: this.pollMs });
    while (!this.idle.stopped) {
      this.idle.clear();
      try {
        await this.round();
        rounds.ended();
        await this.idle.pause(LOOK_MS);
        await this.idle.untilNotified(this.pollMs);
        await new Promise(setImmediate);
      } catch (error) {
        this.log.warn(`Endpoints could not be looked for: ${reasonOf(error)}`, { code: faultCode(error) });
        await this.idle.pause(STORAGE_RETRY_MS);
      }
    }
    rounds.stopped();
  }

  private async round(): Promise<void> {
    const elapsed = this.clock.elapsed();
    const isDue = elapsed - this.lastPoll >= this.pollMs;
    // This comes first, so that the process does not take an endpoint again that it still has under a lease that has ended.
    if (isDue) await this.renew();
    const accounts = [...this.woken];
    this.woken.clear();
    if (accounts.length > 0) await this.take(accounts);
    if (!isDue) return;
    this.lastPoll = elapsed;
    await this.take(undefined);
    for (const caller of this.callers.values()) if (caller.isIdle) void this.end(caller);
  }

  private async take(accounts: readonly string[] | undefined): Promise<void> {
    const { owner } = this;
    const now = this.clock.now();
    const until = this.leases.end;
    const after = accounts ? undefined : this.place;
    const { taken, next } = await this.store.take({ owner, now, leaseUntil: until, accounts, after, limit: PAGE });
    if (!accounts) this.place = next;
    for (const each of taken) this.start(each, until);
  }

  private start(leased: LeasedEndpoint, until: number): void {
    const earlier = this.callers.get(leased.endpoint.id);
    if (earlier) this.lose(earlier);
    const caller = new EndpointCaller(leased, this.context);
    this.leases.hold(leased, until);
    this.callers.set(leased.endpoint.id, caller);
    caller.start();
  }

  private async renew(): Promise<void> {
    const { lost, changed } = await this.leases.renew();
    for (const { endpointId } of lost) {
      const caller = this.callers.get(endpointId);
      if (caller) this.lose(caller);
    }
    for (const { endpointId } of changed) {
      const caller = this.callers.get(endpointId);
      if (caller) await this.redefine(caller);
    }
  }

  /** Gives up an endpoint that another process has taken. Its running calls end, and their results are not stored. */
  private lose(caller: EndpointCaller): void {
    if (!this.forget(caller)) return;
    this.track(caller.stop(this.dispatch.shutdownMs).finally(() => caller.close()));
  }

  /** Ends the calls of an endpoint, stores them, and gives its lease back. */
  private async end(caller: EndpointCaller): Promise<void> {
    const ended = async () => {
      await caller.stop(this.dispatch.shutdownMs);
      await this.writer.flush(caller);
      caller.close();
      if (!this.forget(caller)) return;
      await this.store.release(this.owner, [caller.lease]).catch(() => undefined);
    };
    await this.track(ended());
  }

  private forget({ lease }: EndpointCaller): boolean {
    if (this.callers.get(lease.endpointId)?.lease !== lease) return false;
    this.leases.drop(lease);
    return this.callers.delete(lease.endpointId);
  }

  private async track(work: Promise<void>): Promise<void> {
    this.ending.add(work);
    await work.finally(() => this.ending.delete(work));
  }
}
