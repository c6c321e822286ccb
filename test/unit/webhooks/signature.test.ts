import { createHmac, createPublicKey, verify } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { UuidGenerator } from '../../../src/common/ids.js';
import { HOUR_MS } from '../../../src/common/time.js';
import { VERSION } from '../../../src/common/version.js';
import { CallRequests, pingEvent } from '../../../src/webhooks/calls/http/call-request.js';
import { webhookSignature } from '../../../src/webhooks/calls/http/webhook-signature.js';
import type { Endpoint } from '../../../src/webhooks/endpoints/endpoint.js';
import { EndpointSecrets } from '../../../src/webhooks/endpoints/endpoint-secret.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';

const { keys } = resolveWebhookSettings({ pepper: 'a pepper of the tests: 7d1Qm0xHcV2u' });
const secrets = new EndpointSecrets(keys);
const requests = new CallRequests(secrets);
/** The verifier uses the machine's clock. */
const now = Date.now();

const endpoint: Endpoint = {
  id: 'e1',
  accountId: 'demo',
  url: 'https://hooks.example/',
  types: null,
  ordering: 'none',
  description: null,
  batch: { max: 1, waitMs: 0 },
  signature: 'hmac',
  versions: secrets.first(),
  status: 'enabled',
  reason: null,
  cursor: 0,
  failingSince: null,
  restsUntil: null,
  createdAt: 0,
  updatedAt: 0,
};

function callOf(changed: Partial<Endpoint> = {}, at = now, batch?: string) {
  const called = { ...endpoint, ...changed };
  const event = pingEvent(called, new UuidGenerator().bytes(16), at);
  const request = requests.requestOf(called, [event], batch, at);
  if (!request) throw new Error('It cannot be signed.');
  return { ...request, event: JSON.parse(event.text) };
}

function secretOf(index: number, versions = endpoint.versions): string {
  const version = versions[index];
  const shown = version && secrets.shown({ id: endpoint.id, signature: 'hmac', version });
  if (!shown || !('secret' in shown)) throw new Error('There is no secret.');
  return shown.secret;
}

describe('a call', () => {
  test('is verified by the reference library of Standard Webhooks', () => {
    const { headers, body, event } = callOf();
    const webhook = new Webhook(secretOf(0));
    expect(webhook.verify(body, { ...headers })).toEqual(event);
    expect(headers['webhook-id']).toBe(event.id);
    expect(headers['user-agent']).toBe(`nestjs-messaging/${VERSION}`);
    expect(() => webhook.verify(`${body} `, { ...headers })).toThrow('No matching signature');
    expect(() => webhook.verify(body, { ...headers, 'webhook-id': 'evt_other' })).toThrow('No matching signature');
  });

  test('is refused by it if it is replayed after five minutes, or has another timestamp', () => {
    const { headers, body } = callOf({}, now - 6 * 60_000);
    const webhook = new Webhook(secretOf(0));
    expect(() => webhook.verify(body, { ...headers })).toThrow('too old');
    const timestamp = String(Math.floor(now / 1000));
    expect(() => webhook.verify(body, { ...headers, 'webhook-timestamp': timestamp })).toThrow('No matching signature');
  });

  test('has the signatures of both secrets during a rotation, and of the new one afterwards', () => {
    const versions = secrets.rotated(endpoint.versions, now, 24 * HOUR_MS);
    const during = callOf({ versions });
    expect(during.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const index of [0, 1]) {
      expect(new Webhook(secretOf(index, versions)).verify(during.body, { ...during.headers })).toEqual(during.event);
    }
    const called = { ...endpoint, versions };
    const event = pingEvent(called, Buffer.alloc(16), now);
    const signatures = (at: number) => {
      const request = requests.requestOf(called, [event], undefined, at);
      return request?.headers['webhook-signature']?.split(' ').length;
    };
    expect([signatures(now), signatures(now + 24 * HOUR_MS - 1), signatures(now + 24 * HOUR_MS)]).toEqual([2, 2, 1]);
  });

  test('is verified by its public key, with Ed25519', () => {
    const { headers, body } = callOf({ signature: 'ed25519' });
    const [version] = endpoint.versions;
    const shown = version && secrets.shown({ id: endpoint.id, signature: 'ed25519', version });
    const x = shown && 'public_key' in shown ? shown.public_key.slice('whpk_'.length) : '';
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(x, 'base64').toString('base64url') };
    const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
    const [name, signature = ''] = headers['webhook-signature']?.split(',') ?? [];
    const signed = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`);
    expect(name).toBe('v1a');
    expect(verify(null, signed, publicKey, Buffer.from(signature, 'base64'))).toBe(true);
    expect(verify(null, Buffer.concat([signed, signed]), publicKey, Buffer.from(signature, 'base64'))).toBe(false);
  });

  test('is a list for an endpoint that takes batches, under the id of the batch', () => {
    const { headers, body, event } = callOf({ batch: { max: 10, waitMs: 0 } }, now, 'batch_1');
    expect(JSON.parse(body)).toEqual({ events: [event] });
    expect(headers['webhook-id']).toBe('batch_1');
  });

  test('is not made if the pepper of its secret is unknown', () => {
    const versions = [{ number: 1, pepper: 'another', endsAt: null }];
    expect(requests.canSign({ ...endpoint, versions }, now)).toBe(false);
    expect(requests.canSign(endpoint, now)).toBe(true);
  });
});

describe('an HMAC', () => {
  const call = (body: string) => ({ id: 'evt_1', timestamp: 1_700_000_000, body });

  test.each([0, 1, 55, 64, 4000, 4090, 5000, 300_000])(
    'equals that of the library, over a body of %i bytes',
    (length) => {
      const body = 'é'.repeat(length / 2) + 'x'.repeat(length % 2);
      for (const key of [Buffer.alloc(32, 7), Buffer.alloc(32, 0xa5), Buffer.alloc(64, 1)]) {
        const expected = createHmac('sha256', key).update(`evt_1.1700000000.${body}`).digest('base64');
        // Twice, because the kept key must not depend on a previous call.
        for (let time = 0; time < 2; time++) {
          expect(webhookSignature([{ signature: 'hmac', key }], call(body))).toBe(`v1,${expected}`);
          expect(webhookSignature([{ signature: 'hmac', key }], call('short'))).not.toBe(`v1,${expected}`);
        }
      }
    },
  );
});
