import type { EventType } from '../events/event-types.js';
import type {
  AttemptView,
  EndpointRemoved,
  EndpointView,
  EndpointWithSecret,
  EventsCalled,
  PingResult,
} from '../webhooks/endpoints/endpoint.api.js';
import type { Caller, CallOptions, SendOptions } from './caller.js';
import type { Listing } from './listing.js';

/** An endpoint to create: the URL to call, and how to call it. */
export interface WebhookOrder {
  /** The URL to call: https, at most 2048 characters. */
  readonly url: string;
  /** The event types to send. Default: `["*"]`, which means all. */
  readonly types?: readonly (EventType | '*')[] | undefined;
  /** `strict`: the service makes one call at a time, in the order of the events. Default: `none`. */
  readonly ordering?: EndpointView['ordering'] | undefined;
  /**
   * A call has at most `max` events, 1 to 100. The first event waits up to `wait_ms` milliseconds for others, 0 to 5000. Default:
   * 1 and 0.
   */
  readonly batch?: { readonly max?: number; readonly wait_ms?: number } | undefined;
  /** Default: `hmac`. It cannot be changed later. */
  readonly signature?: EndpointView['signature'] | undefined;
  readonly description?: string | undefined;
}

/** The events to send again. An event must meet all conditions. */
export interface ReplayQuery {
  /** Only events with a higher sequence number. */
  readonly after?: number | undefined;
  /** Only events from this moment on, ISO 8601. */
  readonly since?: string | undefined;
  /** Only events before this moment. */
  readonly until?: string | undefined;
  readonly types?: readonly (EventType | '*')[] | undefined;
  /** Only events whose last call failed. */
  readonly only_failed?: boolean | undefined;
}

/** Which endpoints to list. */
export interface WebhooksQuery {
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
}

/** Which calls to list. */
export interface WebhookAttemptsQuery extends WebhooksQuery {
  readonly status?: AttemptView['status'] | undefined;
}

/** The endpoints that are called with the account's events. */
export class WebhookRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Creates an endpoint. Only this answer has the secret. */
  create(order: WebhookOrder, options?: SendOptions): Promise<EndpointWithSecret> {
    return this.#post([], order, options);
  }

  /** Lists the endpoints, newest first. */
  list(query?: WebhooksQuery, options?: CallOptions): Listing<EndpointView> {
    return this.#caller.list(['webhooks'], query, options);
  }

  get(id: string, options?: CallOptions): Promise<EndpointView> {
    return this.#caller.json({ path: ['webhooks', id] }, options);
  }

  /** Changes an endpoint. Fields that are left out stay as they are. */
  update(id: string, changes: Partial<WebhookOrder>, options?: CallOptions): Promise<EndpointView> {
    return this.#caller.json({ method: 'PATCH', path: ['webhooks', id], body: changes }, options);
  }

  remove(id: string, options?: CallOptions): Promise<EndpointRemoved> {
    return this.#caller.json({ method: 'DELETE', path: ['webhooks', id], gone: { success: true } }, options);
  }

  /** Makes a new secret. For `keep_hours` the old secret signs the calls too, 0 to 168, default 24. */
  rotate(id: string, order: { readonly keep_hours?: number } = {}, options?: SendOptions): Promise<EndpointWithSecret> {
    return this.#post([id, 'rotate'], order, options);
  }

  /** Calls the endpoint once, with the event `test.ping`. */
  test(id: string, options?: SendOptions): Promise<PingResult> {
    return this.#post([id, 'test'], undefined, options);
  }

  /** Sends events again. Default: all events that are kept. */
  replay(id: string, query: ReplayQuery = {}, options?: SendOptions): Promise<EventsCalled> {
    return this.#post([id, 'replay'], query, options);
  }

  /** Enables an endpoint. It continues with the first event that it has not received yet. */
  enable(id: string, options?: SendOptions): Promise<EndpointView> {
    return this.#post([id, 'enable'], undefined, options);
  }

  disable(id: string, options?: SendOptions): Promise<EndpointView> {
    return this.#post([id, 'disable'], undefined, options);
  }

  /** Lists the calls of the last 7 days, newest first. */
  attempts(id: string, query?: WebhookAttemptsQuery, options?: CallOptions): Listing<AttemptView> {
    return this.#caller.list(['webhooks', id, 'attempts'], query, options);
  }

  /** Sends one event again. */
  retry(id: string, sequence: number, options?: SendOptions): Promise<EventsCalled> {
    return this.#post([id, 'attempts', String(sequence), 'retry'], undefined, options);
  }

  #post<T>(steps: readonly string[], body: object | undefined, options?: SendOptions): Promise<T> {
    return this.#caller.json({ method: 'POST', path: ['webhooks', ...steps], body, repeat: 'keyed' }, options);
  }
}
