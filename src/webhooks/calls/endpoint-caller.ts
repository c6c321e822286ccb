import { STORAGE_RETRY_MS, within } from '../../common/concurrency/async.js';
import { type FaultLog, faultCode, faultLog, reasonOf } from '../../common/log.js';
import { NO_SPAN, type TelemetrySpan } from '../../common/telemetry/telemetry.js';
import type { FaultReason } from '../../events/events.api.js';
import { IdleTimer } from '../../outbox/delivery/idle-timer.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import { ProgressDraft } from './call-progress.js';
import { type Call, CallQueue, type QueueContext } from './call-queue.js';
import type { CallProgress, EndpointLease, LeasedEndpoint } from './call-records.js';
import type { CallSlots } from './call-slots.js';
import type { CallSpans } from './call-spans.js';
import type { CallRequests } from './http/call-request.js';
import type { WebhookConnections } from './http/webhook-connections.js';
import type { WebhookOutcome, WebhookRequest } from './http/webhook-exchange.js';
import type { WebhookHttp } from './http/webhook-http.js';
import { FAILING_MS, restOf } from './retry-schedule.js';

/** How many calls of one endpoint may run at the same time, without `strict` order. */
const MAX_CALLS = 8;

/** After so many failures in a row an endpoint gets one call at a time. */
const TROUBLED = 8;

/** How many events may have a call that is running or not yet stored. A crash repeats at most so many. */
const MAX_EVENTS = 1200;

/** How long this process keeps an endpoint that has no work, in milliseconds. */
const LINGER_MS = 10_000;

/** The services and settings that the caller of an endpoint uses. */
export interface CallContext extends QueueContext {
  readonly http: WebhookHttp;
  readonly requests: CallRequests;
  readonly slots: CallSlots;
  readonly spans?: CallSpans | undefined;
  /** How often the caller looks for new events without a notice, in milliseconds. */
  readonly pollMs: number;
  /** Whether the lease certainly holds now. */
  readonly isOurs: (lease: EndpointLease) => boolean;
  /** Requests that the progress of an endpoint is stored: soon, or at once if its calls wait for that. */
  readonly changed: (caller: EndpointCaller, isAwaited?: boolean) => void;
  /** Called after the store has disabled the endpoint. */
  readonly disabled: (caller: EndpointCaller) => void;
}

/** Calls one endpoint while this process has its lease. */
export class EndpointCaller {
  readonly lease: EndpointLease;
  private readonly log: FaultLog;
  private readonly idle: IdleTimer;
  private readonly draft = new ProgressDraft();
  private readonly queue: CallQueue;
  /** How many calls are running. */
  private underWay = 0;
  /** Called when no call is running. */
  private drained: () => void = () => undefined;
  private isFilling = false;
  private current: Endpoint;
  private connections: WebhookConnections;
  /** How many events have a call that is running or not yet stored. */
  private outstanding = 0;
  private failures = 0;
  private failingSince: number | undefined;
  private restsUntil: number | undefined;
  private isDisabled = false;
  private running: Promise<void> = Promise.resolve();
  /** When the caller last looked for events, by the clock's `elapsed`. */
  private lastLook: number;
  private lastWork: number;

  constructor(
    { endpoint, lease }: LeasedEndpoint,
    private readonly context: CallContext,
  ) {
    this.lease = lease;
    this.current = endpoint;
    this.failingSince = endpoint.failingSince ?? undefined;
    this.restsUntil = endpoint.restsUntil ?? undefined;
    this.log = faultLog('Webhooks', context.clock);
    this.idle = new IdleTimer(context.clock);
    this.queue = new CallQueue(endpoint, this.draft, context);
    this.connections = context.http.connections(endpoint.url);
    this.lastLook = context.clock.elapsed();
    this.lastWork = this.lastLook;
  }

  get endpoint(): Endpoint {
    return this.current;
  }

  /** Whether the endpoint has had no work for a while, so that the lease can be given back. */
  get isIdle(): boolean {
    const { underWay, draft, outstanding, queue, context } = this;
    const rested = context.clock.elapsed() - this.lastWork >= LINGER_MS;
    return rested && underWay === 0 && outstanding === 0 && draft.isEmpty && queue.isEmpty;
  }

  start(): void {
    this.running = this.run();
  }

  /** Notes that there may be new events. */
  look(): void {
    this.queue.look();
    this.idle.notify();
  }

  /** Takes a new definition, because the endpoint's owner has changed it or has asked for calls. */
  redefine(endpoint: Endpoint): void {
    // Running calls keep the old connections, which close by themselves.
    if (endpoint.url !== this.current.url) this.connections = this.context.http.connections(endpoint.url);
    this.current = endpoint;
    this.queue.redefine(endpoint);
    this.queue.lookAtPending();
    this.idle.notify();
  }

  /** Begins no more calls. Resolves when the running calls have ended, or after `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    this.idle.stop();
    await this.running;
    const drained = new Promise<void>((resolve) => {
      this.drained = resolve;
    });
    if (this.underWay > 0) await within(this.context.clock, patienceMs, drained);
    // The cursor has passed events of other types, so it must be stored too.
    if (this.queue.isAhead) this.draft.touch();
  }

  /** Ends the calls that are still running. */
  close(): void {
    this.connections.close();
  }

  /** Returns the progress that must be stored, or undefined if there is none. Call `stored` after it is stored. */
  progress(): { readonly progress: CallProgress; readonly stored: () => void } | undefined {
    if (this.draft.isEmpty) return undefined;
    const { failingSince, restsUntil } = this;
    const { progress, settled, commit } = this.draft.take(this.lease, {
      cursor: this.queue.position,
      failingSince,
      restsUntil,
    });
    const stored = () => {
      this.outstanding -= settled;
      this.queue.stored(progress, commit);
      this.idle.notify();
      if (progress.disabled) this.context.disabled(this);
    };
    return { progress, stored };
  }

  private async run(): Promise<void> {
    while (!this.idle.stopped) {
      this.idle.clear();
      try {
        await this.fill();
        if (!this.draft.isEmpty) this.context.changed(this, this.isFull);
        await this.idle.untilNotified(this.waitMs);
        // On SQLite the whole loop may run in microtasks. This lets other work of the event loop run.
        await new Promise(setImmediate);
      } catch (error) {
        const { id: endpointId } = this.current;
        const fields = { code: faultCode(error), endpointId };
        this.log.warn('An endpoint could not be served.', fields, ` ${endpointId}: ${reasonOf(error)}`);
        await this.idle.pause(STORAGE_RETRY_MS);
      }
      this.poll();
    }
  }

  /** Begins as many calls as may run at the same time. */
  private async fill(): Promise<void> {
    this.isFilling = true;
    try {
      while (!this.idle.stopped && this.mayCall) {
        const call = await this.queue.next(this.underWay);
        if (!call) return;
        this.begin(call);
      }
    } finally {
      this.isFilling = false;
    }
  }

  /**
   * Goes on after a call has ended. If the events of the next call were already read, it begins. Otherwise `fill` looks for
   * calls.
   */
  private goOn(): void {
    // While `fill` waits for the store, no call may begin here, because `fill` has already counted the running calls.
    const call = this.isFilling || this.idle.stopped || !this.mayCall ? undefined : this.queue.nextAtOnce;
    if (call) this.begin(call);
    else this.idle.notify();
  }

  private begin(call: Call): void {
    this.outstanding += call.sequences.length;
    this.underWay++;
    void this.make(call).finally(() => {
      this.underWay--;
      if (this.underWay === 0) this.drained();
      this.lastWork = this.context.clock.elapsed();
      this.goOn();
    });
  }

  private get mayCall(): boolean {
    const { ordering } = this.current;
    const most = ordering === 'strict' || this.failures >= TROUBLED ? 1 : MAX_CALLS;
    if (this.underWay >= most || this.isFull) return false;
    if (this.isDisabled || this.restMs > 0 || !this.context.isOurs(this.lease)) return false;
    return this.context.requests.canSign(this.current, this.context.clock.now());
  }

  /** Whether new calls must wait until earlier results are stored. */
  private get isFull(): boolean {
    return this.outstanding + this.current.batch.max > MAX_EVENTS;
  }

  /** The rest of the pause that the endpoint asked for, in milliseconds. */
  private get restMs(): number {
    return Math.max(0, (this.restsUntil ?? 0) - this.context.clock.now());
  }

  private get waitMs(): number {
    const { pollMs } = this.context;
    const rest = this.restMs;
    if (rest > 0) return Math.min(rest, pollMs);
    return this.mayCall ? Math.min(this.queue.waitMs(this.underWay) ?? pollMs, pollMs) : pollMs;
  }

  private poll(): void {
    const elapsed = this.context.clock.elapsed();
    if (elapsed - this.lastLook < this.context.pollMs) return;
    this.lastLook = elapsed;
    this.queue.look();
  }

  private async make(call: Call): Promise<void> {
    const { clock, slots, spans, requests } = this.context;
    const slot = slots.tryTake() ?? (await slots.take());
    try {
      const span = spans?.areOn ? await spans.begin(call.events) : NO_SPAN;
      // The call may have waited so long that the lease must be renewed first.
      while (!this.context.isOurs(this.lease)) {
        if (this.idle.stopped) return span.end('stopped');
        await this.idle.pause(this.context.pollMs);
      }
      const at = clock.now();
      // The endpoint may have other connections when the call ends.
      const { connections } = this;
      const request = requests.requestOf(this.current, call.events, call.batch, at);
      const outcome = request ? await connections.post(traced(request, span)) : UNSIGNED;
      spans?.end(span, outcome);
      this.ended(call, at, connections.isPrivate, outcome);
    } finally {
      slots.giveBack(slot);
    }
  }

  /**
   * @param at when the call was made
   * @param isPrivate whether the response must not be shown to anybody
   */
  private ended(call: Call, at: number, isPrivate: boolean, outcome: WebhookOutcome): void {
    const { status, error, reply, retryAfter, ms } = outcome;
    const { clock, ids } = this.context;
    const now = clock.now();
    const ok = status !== undefined && status >= 200 && status < 300;
    this.failures = ok ? 0 : this.failures + 1;
    this.failingSince = ok ? undefined : (this.failingSince ?? at);
    const rest = restOf(status, retryAfter, now);
    if (rest !== undefined) this.restsUntil = Math.max(this.restsUntil ?? 0, now + rest);
    // An address that the host allows may be in its own network, and its customers must not see responses from there.
    const shown = isPrivate ? undefined : reply;
    const { sequences } = call;
    this.draft.record({ ok, status, error, reply: shown }, { sequences, at, ms }, () => ids.next());
    call.ended(ok);
    if (status === 410) this.disable('gone', now);
    else if (now - (this.failingSince ?? now) >= FAILING_MS) this.disable('failures', now);
    this.context.changed(this);
  }

  private disable(reason: FaultReason, at: number): void {
    this.isDisabled = true;
    this.draft.disable(reason, at);
    const { id: endpointId } = this.current;
    this.log.warn('An endpoint is disabled.', { code: reason, endpointId }, ` ${endpointId}: ${reason}.`);
  }
}

/** Returns the request with the trace of its call, so that the receiver can continue the trace. */
function traced(request: WebhookRequest, { traceparent }: TelemetrySpan): WebhookRequest {
  return traceparent === undefined ? request : { ...request, headers: { ...request.headers, traceparent } };
}

/** The outcome of a call that no secret can sign, because the secret's pepper is neither `pepper` nor `previousPepper`. */
const UNSIGNED: WebhookOutcome = {
  status: undefined,
  error: 'no_secret',
  reply: undefined,
  retryAfter: undefined,
  ms: 0,
};
