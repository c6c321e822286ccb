import { createHmac, sign } from 'node:crypto';
import type { EndpointSecret } from '../endpoints/endpoint-secret.js';

/** What a signature covers. */
export interface SignedCall {
  /** `webhook-id`; without a dot. */
  readonly id: string;
  /** `webhook-timestamp`, in seconds since the epoch. */
  readonly timestamp: number;
  /** The body as it is sent. */
  readonly body: string;
}

/**
 * The value of `webhook-signature` (Standard Webhooks 1.0): `v1,<base64>` of an HMAC-SHA256 or `v1a,<base64>` of an Ed25519
 * signature over `<id>.<timestamp>.<body>`; one for each secret, a blank between.
 */
export function signatureOf(secrets: readonly EndpointSecret[], { id, timestamp, body }: SignedCall): string {
  const signed = `${id}.${timestamp}.${body}`;
  return secrets
    .map(({ signature, key }) =>
      signature === 'hmac'
        ? `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
        : `v1a,${sign(null, Buffer.from(signed), key).toString('base64')}`,
    )
    .join(' ');
}
