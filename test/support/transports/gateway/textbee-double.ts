import { createHmac } from 'node:crypto';
import { parseJson, textOf, valueAt } from '../../../../src/transports/http/json-values.js';
import { textbee } from '../../../../src/transports/http/vendors/textbee.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const KEY = 'textbee-fixture-key';
const SECRET = 'textbee-fixture-signing-secret';
/** Its inbound texts name no destination, so this is the one of the contract suite. */
const OWN = '36200';
const DEVICE = '66f0c0ffee0000000000d001';

function refusal(status: number, error: string, code: string) {
  return { answer: json(status, { success: false, error }), code };
}

/** Signs as textbee does. Written independently of the code that it checks. */
export function textbeeEvent(webhookEvent: string, fields: object): DoubleCall {
  const body = JSON.stringify({
    ...fields,
    deviceId: DEVICE,
    webhookSubscriptionId: 's',
    webhookEvent,
    idempotencyKey: 'k',
  });
  return {
    headers: {
      'content-type': 'application/json',
      'x-signature': createHmac('sha256', SECRET).update(body).digest('hex'),
    },
    body,
  };
}

let sent = 0;

const OPTIONS = { apiKey: KEY, deviceId: DEVICE, from: OWN, signingSecret: SECRET };

export const textbeeDouble: VendorDouble = {
  name: 'textbee',
  ownNumber: OWN,
  options: OPTIONS,
  vendor: (baseUrl) => textbee({ ...OPTIONS, baseUrl }),
  strangersVendor: (baseUrl) => textbee({ apiKey: 'another', deviceId: DEVICE, from: OWN, baseUrl }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== `/api/v1/gateway/devices/${DEVICE}/send-sms`) return 'wrong path';
    if (headers['x-api-key'] !== KEY) return 'unauthorized';
    const request = parseJson(body);
    const [to, text] = [textOf(valueAt(request, 'recipients', 0)), textOf(valueAt(request, 'message'))];
    if (!to?.startsWith('+') || !text) return 'a field is missing';
    return { to: to.slice(1), from: OWN, text };
  },
  take() {
    const id = `66f0c0ffee${String(++sent).padStart(14, '0')}`;
    const message = 'SMS added to queue for processing';
    return { answer: json(201, { data: { success: true, message, smsBatchId: id, recipientCount: 1 } }), ids: [id] };
  },
  unauthorized: json(401, { error: 'Unauthorized' }),
  refusals: {
    permanent: refusal(400, 'Invalid recipients', 'http_400'),
    temporary: { answer: { status: 408, body: '' }, code: 'http_408' },
    throttled: {
      answer: json(429, { message: 'You have reached your daily limit' }, { 'retry-after': '7' }),
      code: 'http_429',
    },
    account: refusal(400, 'Device does not exist or is not enabled', 'no_device'),
  },
  signs: true,
  receipt({ id, to, status }, _url, now) {
    const at = new Date(now).toISOString();
    const about = { smsId: 'sms-1', message: 'Bonjour', smsBatchId: id, recipient: `+${to}` };
    return status === 'delivered'
      ? textbeeEvent('MESSAGE_DELIVERED', { ...about, status, sentAt: at, deliveredAt: at })
      : textbeeEvent('MESSAGE_FAILED', {
          ...about,
          status: 'failed',
          errorCode: '4',
          errorMessage: 'No service',
          failedAt: at,
        });
  },
  failure: 'failed',
  inbound: ({ from, text }, _url, now) =>
    textbeeEvent('MESSAGE_RECEIVED', {
      smsId: 'inbound',
      message: text,
      sender: `+${from}`,
      receivedAt: new Date(now),
    }),
  underWay: (id, _url, _now, state = 'UNKNOWN_STATE') =>
    textbeeEvent(state, { smsBatchId: id, recipient: '+22670000001' }),
};
