import { STORAGE_RETRY_MS, within } from '../../common/concurrency/async.js';
import { type FaultLog, faultCode, faultLog, reasonOf } from '../../common/log.js';
import { NO_SPAN, type TelemetrySpan } from '../../common/telemetry/telemetry.js';
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

/** Calls of one endpoint under way, without `strict` order. */
const MAX_CALLS = 8;

/** After so many failures in a row an endpoint gets one call at a time. */
const TROUBLED = 8;

/** The most events whose calls are under way or have not been stored: what a crash repeats. */
const MAX_EVENTS = 1200;

/** How long an endpoint without work is kept, in milliseconds. */
const LINGER_MS = 10_000;

/** What the caller of an endpoint works with. */
export interface CallContext extends QueueContext {
  readonly http: WebhookHttp;
  readonly requests: CallRequests;
  readonly slots: CallSlots;
  readonly spans?: CallSpans | undefined;
  /** How often it looks for new events without being told, in milliseconds. */
  readonly pollMs: number;
  /** Whether the lease certainly holds now. */
  readonly isOurs: (lease: EndpointLease) => boolean;
  /** Has the progress of an endpoint stored soon; at once where its calls wait for that. */
  readonly changed: (caller: EndpointCaller, isAwaited?: boolean) => void;
  /** The endpoint is disabled, which is stored. */
  readonly disabled: (caller: EndpointCaller) => void;
}

/** Calls one endpoint while this process has its lease. */
export class EndpointCaller {
  readonly lease: EndpointLease;
  private readonly log: FaultLog;
  private readonly idle: IdleTimer;
  private readonly draft = new ProgressDraft();
  private readonly queue: CallQueue;
  /** Calls that have not ended. */
  private underWay = 0;
  /** Called when none is under way. */
  private drained: () => void = () => undefined;
  private isFilling = false;
  private current: Endpoint;
  private connections: WebhookConnections;
  /** Events whose calls are under way or have not been stored. */
  private outstanding = 0;
  private failures = 0;
  private failingSince: number | undefined;
  private restsUntil: number | undefined;
  private isDisabled = false;
  private running: Promise<void> = Promise.resolve();
  /** By the clock's `elapsed`. */
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

  /** Whether it has had nothing to do for a while, so that the lease can be given back. */
  get isIdle(): boolean {
    const { underWay, draft, outstanding, queue, context } = this;
    const rested = context.clock.elapsed() - this.lastWork >= LINGER_MS;
    return rested && underWay === 0 && outstanding === 0 && draft.isEmpty && queue.isEmpty;
  }

  start(): void {
    this.running = this.run();
  }

  /** There may be new events. */
  look(): void {
    this.queue.look();
    this.idle.notify();
  }

  /** Its owner has changed it, or has asked for calls. */
  redefine(endpoint: Endpoint): void {
    // Calls under way keep their connections, which close by themselves.
    if (endpoint.url !== this.current.url) this.connections = this.context.http.connections(endpoint.url);
    this.current = endpoint;
    this.queue.redefine(endpoint);
    this.queue.lookAtPending();
    this.idle.notify();
  }

  /** Begins no more calls; resolves when those under way have ended, or after `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    this.idle.stop();
    await this.running;
    const drained = new Promise<void>((resolve) => {
      this.drained = resolve;
    });
    if (this.underWay > 0) await within(this.context.clock, patienceMs, drained);
    // Has the cursor stored that has passed events of other types.
    if (this.queue.isAhead) this.draft.touch();
  }

  /** Ends what is left of its calls. */
  close(): void {
    this.connections.close();
  }

  /** What has to be stored; undefined: nothing. The returned function says that it is. */
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
        // On SQLite all of this may be microtasks.
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

  /** Begins as many calls as may be under way. */
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

  /** A call has ended: begins the next one, where that has been read, and has the others looked for where it has not. */
  private goOn(): void {
    // While `fill` waits for the store it has counted the calls.
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

  /** Whether calls wait for what has been called to be stored. */
  private get isFull(): boolean {
    return this.outstanding + this.current.batch.max > MAX_EVENTS;
  }

  /** Milliseconds for which it asked to be left alone. */
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
      // It may have waited, until the lease has to be renewed first.
      while (!this.context.isOurs(this.lease)) {
        if (this.idle.stopped) return span.end('stopped');
        await this.idle.pause(this.context.pollMs);
      }
      const at = clock.now();
      // The endpoint may have others when the call ends.
      const { connections } = this;
      const request = requests.requestOf(this.current, call.events, call.batch, at);
      const outcome = request ? await connections.post(traced(request, span)) : UNSIGNED;
      spans?.end(span, outcome);
      this.ended(call, at, connections.isPrivate, outcome);
    } finally {
      slots.giveBack(slot);
    }
  }

  /** @param at when the call was made; @param isPrivate whether its answer is shown to nobody */
  private ended(call: Call, at: number, isPrivate: boolean, outcome: WebhookOutcome): void {
    const { status, error, reply, retryAfter, ms } = outcome;
    const { clock, ids } = this.context;
    const now = clock.now();
    const ok = status !== undefined && status >= 200 && status < 300;
    this.failures = ok ? 0 : this.failures + 1;
    this.failingSince = ok ? undefined : (this.failingSince ?? at);
    const rest = restOf(status, retryAfter, now);
    if (rest !== undefined) this.restsUntil = Math.max(this.restsUntil ?? 0, now + rest);
    // What the host allows may be a part of its own network, whose answers are not for its customers.
    const shown = isPrivate ? undefined : reply;
    const { sequences } = call;
    this.draft.record({ ok, status, error, reply: shown }, { sequences, at, ms }, () => ids.next());
    call.ended(ok);
    if (status === 410) this.disable('gone', now);
    else if (now - (this.failingSince ?? now) >= FAILING_MS) this.disable('failures', now);
    this.context.changed(this);
  }

  private disable(reason: 'failures' | 'gone', at: number): void {
    this.isDisabled = true;
    this.draft.disable(reason, at);
    const { id: endpointId } = this.current;
    this.log.warn('An endpoint is disabled.', { code: reason, endpointId }, ` ${endpointId}: ${reason}.`);
  }
}

/** The request with the trace of its call, so that the receiver can go on with it. */
function traced(request: WebhookRequest, { traceparent }: TelemetrySpan): WebhookRequest {
  return traceparent === undefined ? request : { ...request, headers: { ...request.headers, traceparent } };
}

/** No secret signs the call: their pepper is neither `pepper` nor `previousPepper`. */
const UNSIGNED: WebhookOutcome = {
  status: undefined,
  error: 'no_secret',
  reply: undefined,
  retryAfter: undefined,
  ms: 0,
};
