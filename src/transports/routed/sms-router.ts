import type { Clock } from '../../common/clock.js';
import { MessagingOptionsError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';
import { faultLog } from '../../common/log.js';
import { DAY_MS } from '../../common/time.js';
import type { OperatingSwitches } from '../../outbox/operating-state.js';
import type { PolicyStore } from '../../outbox/policy/policy-store.js';
import type { RouteState } from '../../sms/carrier-state.js';
import type { RouteRecipientStore } from '../../sms/route-recipients/route-recipient-store.js';
import {
  type CallbackHandler,
  type DeliveryTiming,
  type OutgoingSms,
  type RepeatPolicy,
  type ReportResult,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from '../../sms/sms-transport.js';
import { CarrierRoute, namedSink, type RouteResult } from './carrier-route.js';
import { RecipientLimit } from './recipient-limit.js';
import { RouteQueue } from './route-queue.js';
import type { RoutedSettings, RouteSettings } from './routes.js';
import { RoutingAttempt } from './routing-attempt.js';

/** The ports of the application that a router uses. */
interface RouterPorts {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly guards: PolicyStore;
  /** The recipients of routes with a limit of different recipients. */
  readonly recipients: RouteRecipientStore;
  /** The routes that operators rest. Default: none. */
  readonly switches?: Pick<OperatingSwitches, 'peek'>;
}

/**
 * Carries SMS over several transports. Each SMS goes to the route that fits best. It goes to the next route if the first one
 * refuses it permanently (`failOver`), or if the first one's circuit is open or opens with this SMS. An SMS that a carrier may have
 * taken goes to no other route. If no route can be tried, the SMS is postponed until one can be, and no attempt is counted. Routes
 * that operators have rested are skipped.
 */
export class SmsRouter extends SmsTransport {
  override readonly name: string;
  override readonly repeat: RepeatPolicy;
  override readonly timing: DeliveryTiming;
  override readonly callbacks: ReadonlyMap<string, CallbackHandler>;
  private readonly routes: readonly CarrierRoute[];
  private readonly table: RouteSelector<CarrierRoute>;
  private readonly clock: Clock;
  private readonly random: () => number;
  private readonly traffic = new RouteTraffic();

  /**
   * @param transports the routes' transports, in the order of the routes
   * @throws MessagingOptionsError if two of them answer callbacks under one name
   */
  constructor(
    { name, routes }: RoutedSettings,
    transports: readonly SmsTransport[],
    { clock, ids, guards, recipients, switches }: RouterPorts,
  ) {
    super();
    this.name = name;
    this.clock = clock;
    this.random = () => ids.random();
    this.routes = transports.flatMap((transport, index) => {
      const settings = routes[index];
      if (!settings) return [];
      const { name: route, segmentsPerSecond: pace, distinctRecipients: most } = settings;
      const queue = pace === undefined ? undefined : new RouteQueue(route, pace, guards, clock);
      const quota = most && { route, count: most.count, windowMs: most.days * DAY_MS };
      const limit = quota && new RecipientLimit(quota, recipients, clock, this.random);
      const rests = (route: string) => switches?.peek().rested.has(route) === true;
      return [new CarrierRoute(settings, transport, { queue, limit, clock, rests })];
    });
    this.table = new RouteSelector(this.routes, this.random);
    this.repeat = strictestRepeatPolicy(transports);
    this.timing = timingOf(this.routes);
    this.callbacks = callbacksOf(this.routes);
  }

  override async start(sink: SmsSink): Promise<void> {
    await Promise.all(this.routes.map((route) => route.start(sink)));
  }

  override async submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report: ReportResult = () => undefined,
  ): Promise<readonly SubmitResult[]> {
    const until = this.clock.elapsed() + this.timing.leaseMs;
    const trips = batch.map(
      (sms) => new RoutingAttempt(sms, this.table.candidates(sms.number, sms.signature), this.random),
    );
    await this.go(trips, { until, signal, report }, true);
    const now = this.clock.now();
    return trips.map((trip) => trip.result(now));
  }

  /**
   * Returns the capacity of the route that limits most, assuming that SMS spread over the routes as the last ones did. While all
   * circuits are open, the capacity is one SMS, so that a probe can be sent.
   */
  override capacity(): number | undefined {
    const awake = this.routes.filter(({ isResting }) => !isResting);
    if (awake.length === 0) return 0;
    const open = awake.filter(({ isShut }) => !isShut);
    if (open.length === 0) return 1;
    const used = open.filter((route) => this.traffic.shareOf(route) > 0);
    const capacities = (used.length > 0 ? used : open).flatMap((route) => {
      const { capacity } = route;
      return capacity === undefined ? [] : [capacity / (this.traffic.shareOf(route) || 1)];
    });
    return capacities.length > 0 ? Math.min(...capacities) : undefined;
  }

  override state(): readonly RouteState[] {
    return this.routes.map(({ state }) => state);
  }

  override async stop(): Promise<void> {
    const stopped = await Promise.allSettled(this.routes.map((route) => route.stop()));
    for (const [index, { status }] of stopped.entries()) {
      const route = this.routes[index]?.name;
      if (status === 'rejected')
        faultLog('SmsRouter', this.clock).error(`Route ${route} did not stop well.`, { route });
    }
  }

  /** Tries the next route of each attempt. The groups of different routes do not wait for each other. */
  private async go(trips: readonly RoutingAttempt[], journey: Journey, isFirst = false): Promise<void> {
    const groups = new Map<CarrierRoute, RoutingAttempt[]>();
    const now = this.clock.now();
    const leftMs = journey.until - this.clock.elapsed();
    for (const trip of trips) {
      const route = trip.next(now, leftMs);
      const group = route && groups.get(route);
      if (group) group.push(trip);
      else if (route) groups.set(route, [trip]);
    }
    if (isFirst) this.traffic.count(groups);
    await Promise.all([...groups].map(([route, group]) => this.tryRoute(route, group, journey)));
  }

  private async tryRoute(route: CarrierRoute, group: readonly RoutingAttempt[], journey: Journey): Promise<void> {
    const { signal, report } = journey;
    const open = new Map(group.map((trip) => [trip.sms, trip]));
    const tried = (trip: RoutingAttempt, result: RouteResult) => {
      const at = this.clock.now();
      trip.tried(route, result, at, signal.aborted);
      open.delete(trip.sms);
      if (trip.isOver) report(trip.sms, trip.result(at));
    };
    const results = await route.submit([...open.keys()], signal, (sms, result) => {
      const trip = open.get(sms);
      // Other results wait for the end of the batch, because only then has the circuit counted the whole batch.
      if (trip && mayBeTaken(result)) tried(trip, result);
    });
    for (const [index, trip] of group.entries()) if (open.has(trip.sms)) tried(trip, results[index]);
    await this.go(group, journey);
  }
}

/** The number of SMS after which the counts are halved. */
const HALF_LIFE = 50;

/** Counts how the last submitted SMS spread over the routes. */
class RouteTraffic {
  private readonly counts = new Map<CarrierRoute, number>();
  private sum = 0;

  count(groups: ReadonlyMap<CarrierRoute, readonly unknown[]>): void {
    const added = [...groups.values()].reduce((sum, { length }) => sum + length, 0);
    const kept = 0.5 ** (added / HALF_LIFE);
    for (const [route, count] of this.counts) this.counts.set(route, count * kept);
    for (const [route, { length }] of groups) this.counts.set(route, (this.counts.get(route) ?? 0) + length);
    this.sum = this.sum * kept + added;
  }

  /** Returns a route's share, from 0 to 1. */
  shareOf(route: CarrierRoute): number {
    return this.sum === 0 ? 0 : (this.counts.get(route) ?? 0) / this.sum;
  }
}

/**
 * Whether the carrier may have taken an SMS. Such an SMS goes to no other route, so its result can be reported before the batch
 * ends.
 */
function mayBeTaken({ kind }: SubmitResult): boolean {
  return kind === 'sent' || kind === 'unknown';
}

/** A batch that is being routed. */
interface Journey {
  /** The end of its lease, by the clock's `elapsed`. */
  readonly until: number;
  readonly signal: AbortSignal;
  readonly report: ReportResult;
}

/**
 * Returns the timing of several routes. The lease must cover two routes in turn, so it is twice the longest lease. All other
 * values are the largest of any route.
 */
function timingOf(routes: readonly CarrierRoute[]): DeliveryTiming {
  const longest = (name: keyof DeliveryTiming) => Math.max(...routes.map(({ timing }) => timing[name]));
  return {
    leaseMs: longest('leaseMs') * (routes.length > 1 ? 2 : 1) + PACE_MS,
    maxAttempts: longest('maxAttempts'),
    retryBaseMs: longest('retryBaseMs'),
    retryMaxMs: longest('retryMaxMs'),
    maxAwayMs: longest('maxAwayMs'),
    reportDeadlineMs: longest('reportDeadlineMs'),
  };
}

/** The time for a reservation and the wait for it, in milliseconds. */
const PACE_MS = 5000;

function callbacksOf(routes: readonly CarrierRoute[]): ReadonlyMap<string, CallbackHandler> {
  const callbacks = new Map<string, CallbackHandler>();
  for (const { name, transport, naming } of routes) {
    for (const [path, handler] of transport.callbacks) {
      if (callbacks.has(path)) {
        throw new MessagingOptionsError(
          `Two routes answer callbacks under the name "${path}", the second one is "${name}": give their transports names of their own.`,
        );
      }
      callbacks.set(path, (callback, sink) => handler(callback, namedSink(sink, naming)));
    }
  }
  return callbacks;
}

/** The rules by which a route is chosen. */
export type Choosable = Pick<RouteSettings, 'prefixes' | 'signatures' | 'weight'>;

/**
 * Finds the routes for an SMS. Routes with the longest matching prefix come first. Among equals, routes for the SMS's signature come
 * before routes for all signatures. Among equals again, weights decide. The routes after the first are fallbacks, in this order.
 */
export class RouteSelector<R extends Choosable> {
  private readonly byPrefix = new Map<string, R[]>();
  private readonly longest: number;

  /** @param random in [0, 1) */
  constructor(
    routes: readonly R[],
    private readonly random: () => number,
  ) {
    for (const route of routes) {
      for (const prefix of new Set(route.prefixes)) {
        this.byPrefix.set(prefix, [...(this.byPrefix.get(prefix) ?? []), route]);
      }
    }
    this.longest = Math.max(...[...this.byPrefix.keys()].map(({ length }) => length));
  }

  /** @param number E.164 digits without the plus sign */
  candidates(number: string, signature: string): readonly R[] {
    const found = new Set<R>();
    for (let length = Math.min(this.longest, number.length); length >= 0; length--) {
      const fit = this.byPrefix.get(number.slice(0, length)) ?? [];
      for (const route of this.inTurn(fit.filter(({ signatures }) => signatures?.has(signature)))) found.add(route);
      for (const route of this.inTurn(fit.filter(({ signatures }) => signatures === undefined))) found.add(route);
    }
    return [...found];
  }

  /**
   * Returns the routes in a random order by weight. Each route is first with the probability of its share (weighted sampling
   * without replacement, Efraimidis and Spirakis 2006). Routes of weight 0 come last, in the given order.
   */
  private inTurn(routes: R[]): readonly R[] {
    if (routes.length < 2) return routes;
    const drawn = routes.map((route) => ({
      route,
      lot: route.weight === 0 ? -1 : this.random() ** (1 / route.weight),
    }));
    return drawn.sort((a, b) => b.lot - a.lot).map(({ route }) => route);
  }
}

const WEAKEST_FIRST: readonly RepeatPolicy[] = ['at-most-once', 'at-least-once', 'idempotent'];

/**
 * Returns the repeat policy of several routes, which is the strictest of them. Several idempotent transports together are
 * `at-most-once`, because the second transport does not know the ids that the first was given.
 */
export function strictestRepeatPolicy(transports: readonly { readonly repeat: RepeatPolicy }[]): RepeatPolicy {
  const weakest = WEAKEST_FIRST.find((policy) => transports.some(({ repeat }) => repeat === policy));
  if (weakest === undefined || (weakest === 'idempotent' && transports.length > 1)) return 'at-most-once';
  return weakest;
}
