import { keyFor } from '../../../src/common/secret.js';
import { webhookSignature } from '../../../src/webhooks/calls/http/webhook-signature.js';
import { EndpointSecrets } from '../../../src/webhooks/endpoints/endpoint-secret.js';
import { blocksOf } from '../docs/readme.js';
import { WEBHOOK_PEPPER } from './webhook-app.js';

// Calls of an endpoint, signed and falsified, for the receivers that docs/webhooks.md shows.

export const BODY = '{"type":"message.delivered","data":{"text":"é"}}';

/** The endpoint's secret, and the one that replaces it: calls have a signature of each. */
const secrets = new EndpointSecrets([keyFor('webhooks', WEBHOOK_PEPPER)]);
const endpoint = { id: 'endpoint', signature: 'hmac' as const, versions: secrets.rotated(secrets.first(), 0, 9e15) };
export const secret: string = JSON.parse(
  JSON.stringify(secrets.shown({ ...endpoint, version: endpoint.versions[1] ?? { number: 0, pepper: '', endsAt: 0 } })),
).secret;

/** The headers of a call that is `age` seconds old, signed for a body. */
function headersOf(body = BODY, age = 0): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000) - age;
  const signature = webhookSignature(secrets.secretsOf(endpoint, 0), { id: 'evt_1', timestamp, body });
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': String(timestamp), 'webhook-signature': signature };
}

/** The contents of a call, and whether a receiver accepts it. */
export const CALLS: readonly (readonly [what: string, holds: boolean, headers: () => Record<string, string>])[] = [
  ['signed by two secrets', true, () => headersOf()],
  ['for another body', false, () => headersOf('{}')],
  ['6 minutes old', false, () => headersOf(BODY, 360)],
  ['with a signature of other bytes', false, () => ({ ...headersOf(), 'webhook-signature': 'v1,AAAA v2 ' })],
];

const blocks = new Map(blocksOf('docs/webhooks.md').map(({ name, text }) => [name, text]));

/** A receiver that the docs show, by the name of its snippet. */
export const receiver = (name: string): string => blocks.get(name) ?? '';
