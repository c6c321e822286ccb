import { createHmac } from 'node:crypto';
import { split } from '../../../../src/sms/segmentation.js';
import { parseJson, textOf, valueAt } from '../../../../src/transports/http/json-values.js';
import { type SmsgateOptions, smsgate } from '../../../../src/transports/http/vendors/smsgate.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

export const SMSGATE_KEY = 'smsgate-fixture-signing-key';
const LOGIN = { username: 'phone', password: 'smsgate-fixture-password' };
const PATH = '/3rdparty/v1/messages?skipPhoneValidation=true';

function refusal(status: number, message: string, code: string) {
  return { answer: json(status, { message }), code };
}

/** Signs as the app does: the HMAC of body and time. Written independently of the code that it checks. */
export function smsgateEvent(event: string, payload: Record<string, unknown>, now: number): DoubleCall {
  const body = JSON.stringify({ deviceId: 'phone-1', event, id: 'event-1', payload, webhookId: 'hook-1', brandnew: 1 });
  const timestamp = String(Math.floor(now / 1000));
  const hmac = createHmac('sha256', SMSGATE_KEY).update(`${body}${timestamp}`, 'utf8').digest('hex');
  return {
    headers: { 'content-type': 'application/json', 'x-signature': hmac, 'x-timestamp': timestamp },
    body,
  };
}

const OPTIONS = { ...LOGIN, signingKey: SMSGATE_KEY, from: '22670990000' };
const vendor = (baseUrl: string, over: Partial<SmsgateOptions> = {}) => smsgate({ ...OPTIONS, baseUrl, ...over });

/** SMSGate in the cloud, which chooses among several phones. So a repeated request is not harmless. */
export const smsgateDouble: VendorDouble = {
  name: 'smsgate',
  ownNumber: '22670990000',
  options: OPTIONS,
  vendor,
  strangersVendor: (baseUrl) => vendor(baseUrl, { password: 'another' }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== PATH) return 'wrong path';
    if (headers.authorization !== `Basic ${btoa(`${LOGIN.username}:${LOGIN.password}`)}`) return 'unauthorized';
    const request = parseJson(body);
    const [id, to] = [textOf(valueAt(request, 'id')), textOf(valueAt(request, 'phoneNumbers', 0))];
    const text = textOf(valueAt(request, 'textMessage', 'text'));
    if (id === undefined || id.length > 36) return 'wrong id';
    if (!to?.startsWith('+') || !text) return 'a field is missing';
    return { to: to.slice(1), from: '22670990000', text, reference: id };
  },
  take({ reference = '', text }) {
    const body = { id: reference, deviceId: 'phone-1', state: 'Pending', isHashed: false, isEncrypted: false };
    return {
      answer: json(202, body, { location: `/3rdparty/v1/messages/${reference}` }),
      ids: split(text).parts.map(() => reference),
    };
  },
  unauthorized: refusal(401, 'Unauthorized', 'http_401').answer,
  refusals: {
    permanent: refusal(400, 'failed to use phone in row 1: invalid phone number', 'http_400'),
    temporary: { answer: { status: 408, body: '' }, code: 'http_408' },
    throttled: refusal(503, 'queue limits exceeded: too many pending messages: 100 / 100', 'http_503'),
    account: refusal(400, 'failed to select device: record not found', 'no_device'),
  },
  signs: true,
  receipt({ id, to, status, reference }, _url, now) {
    const about = { messageId: reference ?? id, sender: '+22670990000', recipient: `+${to}`, simNumber: 1 };
    const at = new Date(now).toISOString();
    return status === 'delivered'
      ? smsgateEvent('sms:delivered', { ...about, deliveredAt: at }, now)
      : smsgateEvent('sms:failed', { ...about, failedAt: at, reason: 'Delivery result from SC +22670000000: 64' }, now);
  },
  refused: ({ id, to, reference }, _url, now) =>
    smsgateEvent(
      'sms:failed',
      {
        messageId: reference ?? id,
        recipient: `+${to}`,
        failedAt: new Date(now).toISOString(),
        reason: 'Send result: RESULT_ERROR_NO_SERVICE (Failed because service is currently unavailable)',
      },
      now,
    ),
  inbound: ({ from, to, text }, _url, now) =>
    smsgateEvent('sms:received', { messageId: 'inbound', message: text, sender: `+${from}`, recipient: to }, now),
  underWay: (id, _url, now, state = 'sms:accepted') => smsgateEvent(state, { messageId: id, recipient: null }, now),
};
