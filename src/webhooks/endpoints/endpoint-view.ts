import { isoOf } from '../../common/phone-numbers/iso.js';
import type { EventType, EventView } from '../../events/event-types.js';
import type { DisabledReason, Endpoint, EndpointAttempt, EndpointOrdering, EndpointSignature } from './endpoint.js';

/** An endpoint as the API gives it. Moments are ISO 8601. */
export interface EndpointView {
  readonly id: string;
  readonly url: string;
  /** `["*"]` for all. */
  readonly types: readonly (EventType | '*')[];
  readonly ordering: EndpointOrdering;
  readonly batch: { readonly max: number; readonly wait_ms: number };
  readonly signature: EndpointSignature;
  readonly description: string | null;
  readonly status: 'enabled' | 'disabled';
  /** Why it is disabled: `requested`, `failures` or `gone`; null while it is enabled. */
  readonly reason: DisabledReason | null;
  /** The sequence up to which events have been called, or are tried again. */
  readonly last_sequence: number;
  /** Since when all calls have failed. */
  readonly failing_since: string | null;
  /** Until when it is left alone, as its `Retry-After` has asked. */
  readonly rests_until: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** An endpoint with what verifies its calls, which is given only by the answer that made it. */
export type EndpointWithSecret = EndpointView & {
  /** `whsec_…`, for `hmac`. */
  readonly secret?: string;
  /** `whpk_…`, for `ed25519`. */
  readonly public_key?: string;
};

/** A page of endpoints, the newest first. */
export interface EndpointPage {
  readonly items: readonly EndpointView[];
  readonly next_cursor: string | null;
}

/** A call of an endpoint. */
export interface AttemptView {
  readonly id: string;
  /** The sequence of its first event; null for `test.ping` and `endpoint.gap`. */
  readonly sequence: number | null;
  /** The sequences of all its events. */
  readonly sequences: readonly number[];
  /** Whether the answer was 2xx. */
  readonly status: 'delivered' | 'failed';
  /** The status of the answer; null: there was none. */
  readonly http_status: number | null;
  /** Why there was none, a short word. */
  readonly error: string | null;
  readonly ms: number;
  readonly at: string;
  /** What was called with, as far as the events are kept: one event, or `{ events }`. */
  readonly request: EventView | { readonly events: readonly EventView[] } | null;
  /** The answer's body, cut; null for an origin that the host has allowed by an option. */
  readonly response: string | null;
}

/** A page of calls, the newest first. It may have fewer items than asked for although there are more. */
export interface AttemptPage {
  readonly items: readonly AttemptView[];
  readonly next_cursor: string | null;
}

export function endpointView(endpoint: Endpoint): EndpointView {
  const { id, url, types, ordering, batch, signature, description, status, reason, cursor } = endpoint;
  return {
    id,
    url,
    types: types ?? ['*'],
    ordering,
    batch: { max: batch.max, wait_ms: batch.waitMs },
    signature,
    description,
    status,
    reason,
    last_sequence: cursor,
    failing_since: isoOf(endpoint.failingSince),
    rests_until: isoOf(endpoint.restsUntil),
    created_at: isoOf(endpoint.createdAt),
    updated_at: isoOf(endpoint.updatedAt),
  };
}

/**
 * @param events those of its events that are kept
 * @param isShown whether the answer's body may be shown
 */
export function attemptView(
  { id, sequences, ok, status, error, ms, at, reply }: EndpointAttempt,
  { batch }: Endpoint,
  events: readonly EventView[],
  isShown: boolean,
): AttemptView {
  const [first] = events;
  return {
    id,
    sequence: sequences[0] ?? null,
    sequences,
    status: ok ? 'delivered' : 'failed',
    http_status: status ?? null,
    error: error ?? null,
    ms,
    at: isoOf(at),
    request: first === undefined ? null : sequences.length > 1 || batch.max > 1 ? { events } : first,
    response: isShown ? (reply ?? null) : null,
  };
}
