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

/** What is to be called, and how. */
export interface WebhookOrder {
  /** https, at most 2048 characters. */
  readonly url: string;
  /** Default: `["*"]`, all. */
  readonly types?: readonly (EventType | '*')[] | undefined;
  /** `strict`: one call under way, nothing overtakes. Default: `none`. */
  readonly ordering?: 'none' | 'strict' | undefined;
  /** `max` events a call, 1 to 100, the first of which waits `wait_ms` for others, 0 to 5000. Default: 1, 0. */
  readonly batch?: { readonly max?: number; readonly wait_ms?: number } | undefined;
  /** Default: `hmac`. It cannot be changed. */
  readonly signature?: 'hmac' | 'ed25519' | undefined;
  readonly description?: string | undefined;
}

/** Which events are called again; all conditions must hold. */
export interface ReplayQuery {
  /** Only events with a higher number. */
  readonly after?: number | undefined;
  /** Only events from this moment on, ISO 8601. */
  readonly since?: string | undefined;
  /** Only events before this moment. */
  readonly until?: string | undefined;
  readonly types?: readonly (EventType | '*')[] | undefined;
  /** Only events whose last call has failed. */
  readonly only_failed?: boolean | undefined;
}

/** Which endpoints to list. */
export interface WebhooksQuery {
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
}

/** Which calls to list. */
export interface WebhookAttemptsQuery extends WebhooksQuery {
  readonly status?: 'delivered' | 'failed' | undefined;
}

/** The endpoints that are called with the account's events. */
export class WebhookRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** The answer has the secret, which no later one has. */
  create(order: WebhookOrder, options?: SendOptions): Promise<EndpointWithSecret> {
    return this.#post([], order, options);
  }

  /** Newest first. */
  list(query?: WebhooksQuery, options?: CallOptions): Listing<EndpointView> {
    return this.#caller.list(['webhooks'], query, options);
  }

  get(id: string, options?: CallOptions): Promise<EndpointView> {
    return this.#caller.json({ path: ['webhooks', id] }, options);
  }

  /** What is absent stays as it is. */
  update(id: string, changes: Partial<WebhookOrder>, options?: CallOptions): Promise<EndpointView> {
    return this.#caller.json({ method: 'PATCH', path: ['webhooks', id], body: changes }, options);
  }

  remove(id: string, options?: CallOptions): Promise<EndpointRemoved> {
    return this.#caller.json({ method: 'DELETE', path: ['webhooks', id], gone: { success: true } }, options);
  }

  /** Makes a new secret. The present one goes on signing for `keep_hours`, 0 to 168, default 24. */
  rotate(id: string, order: { readonly keep_hours?: number } = {}, options?: SendOptions): Promise<EndpointWithSecret> {
    return this.#post([id, 'rotate'], order, options);
  }

  /** Calls it with `test.ping`, once. */
  test(id: string, options?: SendOptions): Promise<PingResult> {
    return this.#post([id, 'test'], undefined, options);
  }

  /** Has events called again; default: all that are kept. */
  replay(id: string, query: ReplayQuery = {}, options?: SendOptions): Promise<EventsCalled> {
    return this.#post([id, 'replay'], query, options);
  }

  /** It goes on where it stood. */
  enable(id: string, options?: SendOptions): Promise<EndpointView> {
    return this.#post([id, 'enable'], undefined, options);
  }

  disable(id: string, options?: SendOptions): Promise<EndpointView> {
    return this.#post([id, 'disable'], undefined, options);
  }

  /** The calls of the last 7 days, newest first. */
  attempts(id: string, query?: WebhookAttemptsQuery, options?: CallOptions): Listing<AttemptView> {
    return this.#caller.list(['webhooks', id, 'attempts'], query, options);
  }

  /** Has one event called again. */
  retry(id: string, sequence: number, options?: SendOptions): Promise<EventsCalled> {
    return this.#post([id, 'attempts', String(sequence), 'retry'], undefined, options);
  }

  #post<T>(steps: readonly string[], body: object | undefined, options?: SendOptions): Promise<T> {
    return this.#caller.json({ method: 'POST', path: ['webhooks', ...steps], body, repeat: 'keyed' }, options);
  }
}
