import { isoOf } from '../../common/phone-numbers/iso.js';
import type { EventView } from '../../events/event-types.js';
import type { AttemptView, EndpointView } from './endpoint.api.js';
import type { Endpoint, EndpointAttempt } from './endpoint.js';

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
 * @param events those events of the call that are still kept
 * @param isShown whether the response's body may be shown
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
