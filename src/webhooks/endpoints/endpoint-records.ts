import type { PageRequest } from '../../common/page.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import type { Endpoint } from './endpoint.js';

/** An endpoint of an account. */
export interface EndpointKey {
  readonly accountId: string;
  readonly id: string;
}

/** What a change answers, and under which Idempotency-Key that is kept: in the transaction of the change. */
export interface EndpointAnswer {
  readonly once: IdempotencyKey | undefined;
  /** It must hold no secret. */
  replyOf(endpoint: Endpoint): object;
}

/** The filter of a listing of attempts. */
export interface AttemptQuery extends PageRequest {
  readonly endpointId: string;
  /** The account of the endpoint, among whose listings it counts. */
  readonly accountId?: string | undefined;
  /** Only those that were answered with 2xx, or that were not; undefined: all. */
  readonly ok?: boolean | undefined;
}

/** The most endpoints of an account. */
export const MAX_ENDPOINTS = 20;
