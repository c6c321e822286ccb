import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { type EndpointSecret, EndpointSecrets } from './endpoint-secret.js';
import { EndpointStore } from './endpoint-store.js';

/** A call that this application has received. */
interface ReceivedCall {
  readonly url: string;
  /** `webhook-id`. */
  readonly id: string;
  /** `webhook-timestamp`, seconds since the epoch. */
  readonly timestamp: string;
  /** `webhook-signature`. */
  readonly webhookSignature: string;
  readonly body: string;
}

/** How many seconds old a call may be, and how many seconds in the future. */
const TOLERANCE_S = 300;

/** Verifies calls that came to this application itself, as any receiver would (Standard Webhooks). The sandbox uses it. */
@Injectable()
export class CallVerifier {
  constructor(
    private readonly store: EndpointStore,
    private readonly secrets: EndpointSecrets,
    private readonly clock: Clock,
  ) {}

  /**
   * Whether a call has a signature of an endpoint with its URL and is not older than 5 minutes. Undefined: there is no such
   * endpoint.
   *
   * @throws StorageUnavailableError
   */
  async verify(call: ReceivedCall): Promise<boolean | undefined> {
    const endpoints = await this.store.withUrl(call.url);
    if (endpoints.length === 0) return undefined;
    const now = this.clock.now();
    const seconds = /^\d{1,12}$/.test(call.timestamp) ? Number(call.timestamp) : Number.NaN;
    if (!(Math.abs(now / 1000 - seconds) <= TOLERANCE_S)) return false;
    const webhookSignatures = call.webhookSignature.split(' ');
    const content = Buffer.from(`${call.id}.${call.timestamp}.${call.body}`);
    const secrets = endpoints.flatMap((endpoint) => this.secrets.secretsOf(endpoint, now));
    return webhookSignatures.some((each) => secrets.some((secret) => holds(secret, each, content)));
  }
}

function holds({ signature: kind, key }: EndpointSecret, webhookSignature: string, content: Buffer): boolean {
  const [version, encoded = ''] = webhookSignature.split(',');
  const given = Buffer.from(encoded, 'base64');
  if (kind === 'ed25519') return version === 'v1a' && verify(null, content, createPublicKey(key), given);
  const expected = createHmac('sha256', key).update(content).digest();
  return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
}
