import { hash } from 'node:crypto';
import { VERSION } from '../../../common/version.js';
import type { EventType } from '../../../events/event-types.js';
import type { Endpoint } from '../../endpoints/endpoint.js';
import type { EndpointSecret, EndpointSecrets } from '../../endpoints/endpoint-secret.js';
import type { WebhookRequest } from './webhook-exchange.js';
import { webhookSignature } from './webhook-signature.js';

/** An event in a call. It has no sequence number if it goes to one endpoint only and is not in the log. */
export interface CalledEvent {
  readonly id: string;
  readonly type: EventType | 'test.ping' | 'endpoint.gap';
  readonly sequence: number | null;
  /** JSON. */
  readonly text: string;
}

/** A part of the log that is no longer kept and that an endpoint has not received. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Makes the event `endpoint.gap`. If it is repeated, it has the same id. */
export function gapEvent({ id, accountId }: Endpoint, { from, to }: Gap, now: number): CalledEvent {
  const digest = hash('sha256', JSON.stringify(['gap', id, from, to]), 'base64url');
  return unlogged('endpoint.gap', `evt_${digest.slice(0, 22)}`, accountId, now, { from, to });
}

/** Makes the event `test.ping`. */
export function pingEvent({ id, accountId }: Endpoint, random: Buffer, now: number): CalledEvent {
  return unlogged('test.ping', `evt_${random.toString('base64url')}`, accountId, now, { endpoint: id });
}

function unlogged(type: CalledEvent['type'], id: string, account: string, now: number, data: object): CalledEvent {
  const timestamp = new Date(now).toISOString();
  const text = JSON.stringify({ id, type, timestamp, sequence: null, previous: null, account, data });
  return { id, type, sequence: null, text };
}

/** Renders and signs calls. It derives the secrets of an endpoint again only after the endpoint has changed. */
export class CallRequests {
  private readonly derived = new WeakMap<
    Endpoint,
    { readonly secrets: readonly EndpointSecret[]; readonly until: number }
  >();

  constructor(private readonly secrets: EndpointSecrets) {}

  /**
   * Returns a signed call with one event, or with several events under the id of their batch. Undefined if nothing can sign it,
   * because the pepper of the endpoint's secret is no longer configured.
   */
  requestOf(
    endpoint: Endpoint,
    events: readonly CalledEvent[],
    batch: string | undefined,
    now: number,
  ): WebhookRequest | undefined {
    const secrets = this.secretsOf(endpoint, now);
    const [first] = events;
    if (secrets.length === 0 || !first) return undefined;
    const id = batch ?? first.id;
    const timestamp = Math.floor(now / 1000);
    // A batch may have been put together before its endpoint was changed to take single events.
    const isBatch = batch !== undefined || events.length > 1 || endpoint.batch.max > 1;
    const body = isBatch ? `{"events":[${events.map(({ text }) => text).join(',')}]}` : first.text;
    const headers = {
      'content-type': 'application/json',
      'user-agent': `nestjs-messaging/${VERSION}`,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': webhookSignature(secrets, { id, timestamp, body }),
    };
    return { headers, body };
  }

  /**
   * Returns false if the pepper of the endpoint's secret is no longer configured. Then the endpoint must not be called until its
   * secret is rotated.
   */
  canSign(endpoint: Endpoint, now: number): boolean {
    return this.secretsOf(endpoint, now).length > 0;
  }

  private secretsOf(endpoint: Endpoint, now: number): readonly EndpointSecret[] {
    const known = this.derived.get(endpoint);
    if (known && now < known.until) return known.secrets;
    const secrets = this.secrets.secretsOf(endpoint, now);
    const ends = endpoint.versions.flatMap(({ endsAt }) => (endsAt !== null && endsAt > now ? [endsAt] : []));
    this.derived.set(endpoint, { secrets, until: Math.min(...ends, Number.MAX_SAFE_INTEGER) });
    return secrets;
  }
}
