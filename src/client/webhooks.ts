import type { EventType } from '../events/event-types.js';
import type { Caller, CallOptions, SendOptions } from './caller.js';
import type { AccountEvent } from './events.js';
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

/** An endpoint of the account. Moments are ISO 8601, UTC. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  /** `["*"]` for all. */
  readonly types: readonly (EventType | '*')[];
  readonly ordering: 'none' | 'strict';
  readonly batch: { readonly max: number; readonly wait_ms: number };
  readonly signature: 'hmac' | 'ed25519';
  readonly description: string | null;
  readonly status: 'enabled' | 'disabled';
  /** Why it is disabled. */
  readonly reason: 'requested' | 'failures' | 'gone' | null;
  /** The number up to which events have been called, or are tried again. */
  readonly last_sequence: number;
  /** Since when all calls have failed. */
  readonly failing_since: string | null;
  /** Until when it is left alone, as its `Retry-After` has asked. */
  readonly rests_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An endpoint with what `verifyWebhook` takes as `secrets`, given only by the answer that made it. */
export type WebhookWithSecret = Webhook & {
  /** `whsec_…`, for `hmac`. */
  readonly secret?: string;
  /** `whpk_…`, for `ed25519`. */
  readonly public_key?: string;
};

/** The answer of an endpoint to `test.ping`. */
export interface WebhookPing {
  /** Null: there was none. */
  readonly status: number | null;
  /** Null for an origin that the host has allowed. */
  readonly ms: number | null;
  /** Its body, cut; null without one, and for an origin that the host has allowed. */
  readonly response: string | null;
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

/** How many events are called again. */
export interface EventsCalled {
  readonly events: number;
}

/** A call of an endpoint. */
export interface WebhookAttempt {
  readonly id: string;
  /** The number of its first event; null for `test.ping` and `endpoint.gap`. */
  readonly sequence: number | null;
  readonly sequences: readonly number[];
  readonly status: 'delivered' | 'failed';
  /** Null: there was no answer. */
  readonly http_status: number | null;
  /** Why there was none, a short word. */
  readonly error: string | null;
  readonly ms: number;
  readonly at: string;
  /** What was called with, as far as the events are kept. */
  readonly request: AccountEvent | { readonly events: readonly AccountEvent[] } | null;
  /** The answer's body, cut. */
  readonly response: string | null;
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
  create(order: WebhookOrder, options?: SendOptions): Promise<WebhookWithSecret> {
    return this.#post([], order, options);
  }

  /** Newest first. */
  list(query?: WebhooksQuery, options?: CallOptions): Listing<Webhook> {
    return this.#caller.list(['webhooks'], query, options);
  }

  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.#caller.json({ path: ['webhooks', id] }, options);
  }

  /** What is absent stays as it is. */
  update(id: string, changes: Partial<WebhookOrder>, options?: CallOptions): Promise<Webhook> {
    return this.#caller.json({ method: 'PATCH', path: ['webhooks', id], body: changes }, options);
  }

  remove(id: string, options?: CallOptions): Promise<{ readonly success: true }> {
    return this.#caller.json({ method: 'DELETE', path: ['webhooks', id], gone: { success: true } }, options);
  }

  /** Makes a new secret. The present one goes on signing for `keep_hours`, 0 to 168, default 24. */
  rotate(id: string, order: { readonly keep_hours?: number } = {}, options?: SendOptions): Promise<WebhookWithSecret> {
    return this.#post([id, 'rotate'], order, options);
  }

  /** Calls it with `test.ping`, once. */
  test(id: string, options?: SendOptions): Promise<WebhookPing> {
    return this.#post([id, 'test'], undefined, options);
  }

  /** Has events called again; default: all that are kept. */
  replay(id: string, query: ReplayQuery = {}, options?: SendOptions): Promise<EventsCalled> {
    return this.#post([id, 'replay'], query, options);
  }

  /** It goes on where it stood. */
  enable(id: string, options?: SendOptions): Promise<Webhook> {
    return this.#post([id, 'enable'], undefined, options);
  }

  disable(id: string, options?: SendOptions): Promise<Webhook> {
    return this.#post([id, 'disable'], undefined, options);
  }

  /** The calls of the last 7 days, newest first. */
  attempts(id: string, query?: WebhookAttemptsQuery, options?: CallOptions): Listing<WebhookAttempt> {
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
