import { createHmac } from 'node:crypto';
import { parseJson, textOf, valueAt } from '../../../../src/transports/http/json-values.js';
import { httpsms } from '../../../../src/transports/http/vendors/httpsms.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const KEY = 'httpsms-fixture-key';
export const HTTPSMS_SIGNING_KEY = 'httpsms-fixture-signing-key';
const OWN = '22670990000';

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Makes a JWT as httpSMS does. Written independently of the code that it checks. */
export function httpsmsToken(claims: object, key = HTTPSMS_SIGNING_KEY, alg = 'HS256'): string {
  const signed = `${base64({ alg, typ: 'JWT' })}.${base64(claims)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

export function httpsmsClaims(url: string, now: number) {
  const seconds = Math.floor(now / 1000);
  const times = { iat: seconds, exp: seconds + 600, nbf: seconds - 600 };
  return { aud: [url], iss: 'api.httpsms.com', sub: 'user', ...times };
}

export function httpsmsEvent(type: string, data: object, url: string, now: number): DoubleCall {
  const event = { specversion: '1.0', id: 'event-1', source: '/v1', type, datacontenttype: 'application/json', data };
  return {
    headers: {
      'content-type': 'application/json',
      'x-event-type': type,
      authorization: `Bearer ${httpsmsToken(httpsmsClaims(url, now))}`,
    },
    body: JSON.stringify(event),
  };
}

let sent = 0;

function wrong(field: string) {
  const answer = json(422, { status: 'error', message: 'validation errors', data: { [field]: ['It is not right.'] } });
  return { answer, code: field };
}

const OPTIONS = { apiKey: KEY, from: OWN, signingKey: HTTPSMS_SIGNING_KEY };

export const httpsmsDouble: VendorDouble = {
  name: 'httpsms',
  ownNumber: OWN,
  options: OPTIONS,
  vendor: (baseUrl) => httpsms({ ...OPTIONS, baseUrl }),
  strangersVendor: (baseUrl) => httpsms({ apiKey: 'another', from: OWN, baseUrl }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== '/v1/messages/send') return 'wrong path';
    if (headers['x-api-key'] !== KEY) return 'unauthorized';
    const request = parseJson(body);
    const [from, to, text] = ['from', 'to', 'content'].map((name) => textOf(valueAt(request, name)));
    if (!from?.startsWith('+') || !to?.startsWith('+') || !text) return 'a field is missing';
    return { to: to.slice(1), from: from.slice(1), text, reference: textOf(valueAt(request, 'request_id')) };
  },
  take({ to, text, reference }) {
    const id = `32343a19-da5e-4b1b-a767-${String(++sent).padStart(12, '0')}`;
    const data = { id, request_id: reference, owner: `+${OWN}`, contact: `+${to}`, content: text, status: 'pending' };
    return { answer: json(200, { status: 'success', message: 'message added to queue', data }), ids: [id] };
  },
  unauthorized: json(401, {
    status: 'error',
    message: 'You are not authorized.',
    data: 'Make sure your API key is set',
  }),
  refusals: {
    permanent: wrong('to'),
    temporary: { answer: { status: 408, body: '' }, code: 'http_408' },
    throttled: { answer: json(429, { status: 'error' }, { 'retry-after': '7' }), code: 'http_429' },
    account: { answer: json(402, { status: 'error', message: 'You have used all messages.' }), code: 'http_402' },
  },
  signs: false,
  receipt({ id, to, status, reference }, url, now) {
    const timestamp = new Date(now).toISOString();
    const about = { id, owner: `+${OWN}`, contact: `+${to}`, request_id: reference ?? null, timestamp, sim: 'SIM1' };
    return status === 'delivered'
      ? httpsmsEvent('message.phone.delivered', about, url, now)
      : httpsmsEvent('message.send.failed', { ...about, error_message: 'NO_SERVICE' }, url, now);
  },
  failure: 'failed',
  inbound: ({ from, to, text }, url, now) =>
    httpsmsEvent(
      'message.phone.received',
      { message_id: 'inbound', owner: to, contact: `+${from}`, content: text, timestamp: new Date(now).toISOString() },
      url,
      now,
    ),
  underWay: (id, url, now, state = 'message.phone.sending') => httpsmsEvent(state, { id }, url, now),
};
