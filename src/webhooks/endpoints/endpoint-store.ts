import type { Author } from '../../accounts/audit/audit.js';
import type { Page, PageRequest } from '../../common/page.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import type { Acceptance } from '../../outbox/outbox.js';
import type { Endpoint, EndpointAttempt, EndpointDefinition, NewEndpoint, SecretVersion } from './endpoint.js';

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

/**
 * Persists endpoints as their owners define them; what calls change is the `CallStore`'s. Every method is one transaction
 * unless it says otherwise, and throws `StorageUnavailableError` when the database does not answer. A change is told in the audit
 * log, in its transaction; `by` is who makes it, by default the host.
 */
export abstract class EndpointStore {
  /**
   * Stores an endpoint and switches the account's log on, in one transaction: its cursor is the last number before, so it is
   * told of all that is committed after. A repeat under the Idempotency-Key gets the first reply.
   *
   * @throws MessagingError `error.too_many_endpoints` for more than {@link MAX_ENDPOINTS}, decided under a lock;
   *   `error.account_not_found`, `error.idempotency_mismatch`
   */
  abstract create(endpoint: NewEndpoint, answer: EndpointAnswer, by?: Author): Promise<Acceptance>;

  abstract find(key: EndpointKey): Promise<Endpoint | undefined>;

  /**
   * The endpoints of an account, newest first.
   * @throws MessagingError `error.invalid_cursor`
   */
  abstract list(accountId: string, page: PageRequest): Promise<Page<Endpoint>>;

  /** Endpoints of all accounts with exactly this URL. It reads all endpoints: for the sandbox. */
  abstract withUrl(url: string): Promise<readonly Endpoint[]>;

  /** Replaces the definition by what `change` makes of it, under a lock. Undefined: there is no such endpoint. */
  abstract update(
    key: EndpointKey,
    change: (definition: EndpointDefinition) => EndpointDefinition,
    at: number,
    by?: Author,
  ): Promise<Endpoint | undefined>;

  /**
   * Replaces the versions of the secret by what `change` makes of them, under a lock. A repeat under the Idempotency-Key gets the
   * first reply. Undefined: there is no such endpoint.
   *
   * @throws MessagingError `error.idempotency_mismatch`
   */
  abstract rotate(
    key: EndpointKey,
    change: (versions: readonly SecretVersion[]) => readonly SecretVersion[],
    at: number,
    answer: EndpointAnswer,
    by?: Author,
  ): Promise<Acceptance | undefined>;

  /** Has it called again from where it stood, whatever disabled it. Undefined: there is no such endpoint. */
  abstract enable(key: EndpointKey, at: number, by?: Author): Promise<Endpoint | undefined>;

  /** Ends its calls, with the reason `requested`. One that is disabled keeps its reason. Undefined: there is no such endpoint. */
  abstract disable(key: EndpointKey, at: number, by?: Author): Promise<Endpoint | undefined>;

  /**
   * Removes it with what it still has to try again, in several transactions. Until `at` it has used the account's log. False:
   * there is no such endpoint.
   */
  abstract remove(key: EndpointKey, at: number, by?: Author): Promise<boolean>;

  /**
   * The calls of an endpoint in the last 7 days, newest first.
   * @throws MessagingError `error.invalid_cursor`
   */
  abstract attempts(query: AttemptQuery): Promise<Page<EndpointAttempt>>;

  /**
   * Keeps a reply under an Idempotency-Key, where there is none yet; else gives the first one.
   * @throws MessagingError `error.idempotency_mismatch`
   */
  abstract keep(once: IdempotencyKey, reply: object, now: number): Promise<Acceptance>;
}
