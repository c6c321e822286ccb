import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { verifyWebhook, WebhookRefusedError } from '../../../src/client/verify-webhook.js';

const KEY = randomBytes(32);
const SECRET = `whsec_${KEY.toString('base64')}`;
const OTHER = `whsec_${randomBytes(32).toString('base64')}`;
const PAIR = generateKeyPairSync('ed25519');
const PUBLIC = `whpk_${PAIR.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')}`;

const EVENT = { id: 'evt_1', type: 'balance.low', sequence: 7, previous: 6, data: { balance: 3, threshold: 5 } };
const BODY = JSON.stringify({ ...EVENT, account: 'Épicerie' });
const now = () => Math.floor(Date.now() / 1000);

const hmac = (signed: string) => `v1,${createHmac('sha256', KEY).update(signed).digest('base64')}`;
const ed25519 = (signed: string) => `v1a,${sign(null, Buffer.from(signed), PAIR.privateKey).toString('base64')}`;

function headersOf(
  signature: (signed: string) => string,
  { body = BODY, timestamp = String(now()), id = 'msg_1' } = {},
) {
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature(`${id}.${timestamp}.${body}`),
  };
}

const refusal = (reason: string) => expect.objectContaining({ name: 'WebhookRefusedError', reason });

describe('a call to a webhook', () => {
  test.each([
    ['HMAC', SECRET, hmac],
    ['Ed25519', PUBLIC, ed25519],
  ])('signed with %s returns its event', async (_, secrets, signature) => {
    const [event] = await verifyWebhook({ secrets, headers: headersOf(signature), body: BODY });
    expect(event).toMatchObject(EVENT);
    // The event types are known to the compiler.
    if (event?.type === 'balance.low') expect(event.data.threshold - event.data.balance).toBe(2);
  });

  test('may be given as bytes, with Headers, or with Node’s headers in any case', async () => {
    const headers = headersOf(hmac);
    const body = Buffer.from(BODY);
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    for (const given of [headers, new Headers(headers), lists]) {
      await expect(verifyWebhook({ secrets: [SECRET], headers: given, body })).resolves.toHaveLength(1);
    }
  });

  test('with a batch returns its events', async () => {
    const body = JSON.stringify({ events: [EVENT, { ...EVENT, sequence: 8 }] });
    const events = await verifyWebhook({ secrets: SECRET, headers: headersOf(hmac, { body }), body });
    expect(events.map(({ sequence }) => sequence)).toEqual([7, 8]);
  });

  test('is accepted if one of its signatures fits one of the secrets, as during a rotation', async () => {
    const both = headersOf(
      (signed) => `v1,${randomBytes(32).toString('base64')} v2,x ${hmac(signed)} ${ed25519(signed)}`,
    );
    for (const secrets of [[SECRET], [OTHER, SECRET], [OTHER, PUBLIC]]) {
      await expect(verifyWebhook({ secrets, headers: both, body: BODY })).resolves.toHaveLength(1);
    }
    await expect(verifyWebhook({ secrets: [OTHER], headers: both, body: BODY })).rejects.toEqual(refusal('signature'));
  });

  test.each<[string, Record<string, string>, string?]>([
    ['of another body', headersOf(hmac), BODY.replace('3', '4')],
    ['of another id', { ...headersOf(hmac), 'webhook-id': 'msg_2' }],
    ['of another time', { ...headersOf(hmac), 'webhook-timestamp': String(now() - 1) }],
    ['of another kind', headersOf((signed) => hmac(signed).replace('v1,', 'v1a,'))],
    [
      'with one byte less',
      headersOf((signed) => `v1,${Buffer.from(hmac(signed).slice(3), 'base64').subarray(1).toString('base64')}`),
    ],
    ['that is not base64', headersOf(() => 'v1,*** v1, v1')],
    ['without a version', headersOf((signed) => hmac(signed).slice(3))],
  ])('with a signature %s is refused', async (_, headers, body = BODY) => {
    await expect(verifyWebhook({ secrets: [SECRET, PUBLIC], headers, body })).rejects.toEqual(refusal('signature'));
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s is refused', async (name) => {
    const headers = { ...headersOf(hmac), [name]: undefined };
    await expect(verifyWebhook({ secrets: SECRET, headers, body: BODY })).rejects.toEqual(refusal('headers'));
  });

  test.each(['soon', '', '-5', '1e3', '0x10'])('with the timestamp "%s" is refused', async (timestamp) => {
    const headers = headersOf(hmac, { timestamp });
    await expect(verifyWebhook({ secrets: SECRET, headers, body: BODY })).rejects.toBeInstanceOf(WebhookRefusedError);
  });

  test.each([-310, 310])('whose time is %i s away is refused, unless the tolerance is larger', async (seconds) => {
    const headers = headersOf(hmac, { timestamp: String(now() + seconds) });
    const call = { secrets: SECRET, headers, body: BODY };
    await expect(verifyWebhook(call)).rejects.toEqual(refusal('time'));
    await expect(verifyWebhook({ ...call, toleranceSeconds: 600 })).resolves.toHaveLength(1);
    await expect(verifyWebhook({ ...call, toleranceSeconds: Number.NaN })).rejects.toEqual(refusal('time'));
  });

  test.each(['', 'whsec_', 'whsec_***', KEY.toString('base64'), 'whsk_AAAA'])(
    'needs a secret, and "%s" is not one',
    async (secrets) => {
      const headers = headersOf(hmac);
      await expect(verifyWebhook({ secrets, headers, body: BODY })).rejects.toThrow(TypeError);
    },
  );

  test('must be given as it arrived, not parsed', async () => {
    const call = { secrets: SECRET, headers: headersOf(hmac) };
    await expect(Reflect.apply(verifyWebhook, undefined, [{ ...call, body: JSON.parse(BODY) }])).rejects.toThrow(
      'not parsed',
    );
  });

  test('is refused if no secret is given', async () => {
    await expect(verifyWebhook({ secrets: [], headers: headersOf(hmac), body: BODY })).rejects.toEqual(
      refusal('signature'),
    );
  });
});
