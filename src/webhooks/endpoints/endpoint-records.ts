import type { PageRequest } from '../../common/listing/page.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import type { Endpoint } from './endpoint.js';

/** An endpoint of an account. */
export interface EndpointKey {
  readonly accountId: string;
  readonly id: string;
}

/** The reply to a change, and the Idempotency-Key under which the transaction of the change keeps it. */
export interface EndpointAnswer {
  readonly once: IdempotencyKey | undefined;
  /** Makes the reply that is kept. It must not contain a secret. */
  replyOf(endpoint: Endpoint): object;
}

/** The filter of a listing of attempts. */
export interface AttemptQuery extends PageRequest {
  readonly endpointId: string;
  /** The account of the endpoint. The listing counts as a listing of this account. */
  readonly accountId?: string | undefined;
  /** True: only calls that were answered with 2xx. False: only the others. Undefined: all. */
  readonly ok?: boolean | undefined;
}

/** How many endpoints an account may have. */
export const MAX_ENDPOINTS = 20;
