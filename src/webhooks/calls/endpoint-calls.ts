import { Injectable } from '@nestjs/common';
import type { Author } from '../../accounts/audit/audit-entry.js';
import { Clock } from '../../common/clock.js';
import { IdGenerator } from '../../common/ids.js';
import { Notifier, publishNotice } from '../../common/notifier.js';
import type { EventType } from '../../events/event-types.js';
import type { PingResult } from '../endpoints/endpoint.api.js';
import type { Endpoint } from '../endpoints/endpoint.js';
import { EndpointSecrets } from '../endpoints/endpoint-secret.js';
import { CallStore } from './call-store.js';
import { CallRequests, pingEvent } from './http/call-request.js';
import { WebhookHttp } from './http/webhook-http.js';

/** Length of a ping's id, in bytes. */
const ID_BYTES = 16;

/** The events of the log to call again. */
export interface ReplayWindow {
  /** Only events with a higher sequence number. */
  readonly after?: number | undefined;
  /** Only events from this time on, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only events before this time. */
  readonly until?: number | undefined;
  /** Only these types, out of those that the endpoint receives. Undefined: all that it receives. Never empty. */
  readonly types?: readonly EventType[] | undefined;
  /** Only events whose last call failed. */
  readonly onlyFailed: boolean;
}

/**
 * Calls of an endpoint that its owner asks for. The audit log records requests to repeat calls. Every method throws
 * `StorageUnavailableError` if the database does not answer.
 */
@Injectable()
export class EndpointCalls {
  private readonly requests: CallRequests;

  constructor(
    private readonly store: CallStore,
    private readonly http: WebhookHttp,
    secrets: EndpointSecrets,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {
    this.requests = new CallRequests(secrets);
  }

  /** Calls the endpoint with `test.ping`, once, also while it is disabled. It does not throw for any response of the endpoint. */
  async ping(endpoint: Endpoint): Promise<PingResult> {
    const now = this.clock.now();
    const event = pingEvent(endpoint, this.ids.bytes(ID_BYTES), now);
    const batch = endpoint.batch.max > 1 ? `batch_${this.ids.next()}` : undefined;
    const request = this.requests.requestOf(endpoint, [event], batch, now);
    if (!request) return { status: null, ms: 0, response: null };
    const connections = this.http.connections(endpoint.url);
    try {
      const { status, ms, reply } = await connections.post(request);
      // An address that the host allows may be in its own network. The host's customers must not see its responses, nor how fast
      // they come.
      if (this.http.isAllowed(endpoint.url)) return { status: status ?? null, ms: null, response: null };
      return { status: status ?? null, ms, response: reply ?? null };
    } finally {
      connections.close();
    }
  }

  /**
   * Requests another call of one event, as soon as possible.
   * @returns false if the event is not kept, or if the endpoint does not receive its type
   */
  async retry(endpoint: Endpoint, sequence: number, by?: Author): Promise<boolean> {
    const isKept = await this.store.callAgain(endpoint, sequence, this.clock.now(), by);
    if (isKept) publishNotice(this.notifier, 'endpoint', endpoint.accountId);
    return isKept;
  }

  /**
   * Requests new calls of the events in a window, in the order of their sequence numbers.
   * @returns how many events are called again
   */
  async replay(
    endpoint: Endpoint,
    { onlyFailed, after = 0, since, until, types }: ReplayWindow,
    by?: Author,
  ): Promise<number> {
    const order = { id: this.ids.next(), endpoint, after, since, until, types, at: this.clock.now(), by };
    const events = await (onlyFailed ? this.store.retryFailed(order) : this.store.addReplay(order));
    if (events > 0) publishNotice(this.notifier, 'endpoint', endpoint.accountId);
    return events;
  }
}
