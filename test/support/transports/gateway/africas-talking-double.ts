import { measure } from '../../../../src/sms/segmentation.js';
import { africasTalking } from '../../../../src/transports/http/vendors/africas-talking.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const USERNAME = 'acme';
const KEY = 'atsk_fixture';

/** HTTP 201 also for errors. */
function recipient(statusCode: number, status: string, more: object = {}) {
  const entry = { statusCode, number: '+22670000001', status, cost: '0', messageId: 'None', ...more };
  return json(201, { SMSMessageData: { Message: 'Sent to 0/1 Total Cost: 0', Recipients: [entry] } });
}

function refusal(code: number, status: string) {
  return { answer: recipient(code, status), code: String(code) };
}

function call(fields: Record<string, string>): DoubleCall {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { headers, body: new URLSearchParams({ ...fields, brandnew: 'x' }).toString() };
}

let sent = 0;

export const africasTalkingDouble: VendorDouble = {
  name: 'africastalking',
  vendor: (baseUrl) => africasTalking({ username: USERNAME, apiKey: KEY, baseUrl }),
  strangersVendor: (baseUrl) => africasTalking({ username: USERNAME, apiKey: 'another', baseUrl }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== '/version1/messaging') return 'wrong path';
    const form = new URLSearchParams(body);
    if (headers.apikey !== KEY || form.get('username') !== USERNAME) return 'unauthorized';
    if (headers.accept !== 'application/json') return 'it would answer XML';
    const [to, from, text] = [form.get('to'), form.get('from'), form.get('message')];
    if (!to?.startsWith('+') || !from || !text) return 'a field is missing';
    return { to: to.slice(1), from, text };
  },
  take({ to, text }) {
    const messageId = `ATXid_${++sent}`;
    const segments = measure(text).segments;
    const entry = { messageId, number: `+${to}`, cost: 'XOF 12.0000', messageParts: segments };
    return { answer: recipient(101, 'Success', entry), ids: [messageId], segments };
  },
  unauthorized: {
    status: 401,
    headers: { 'content-type': 'text/plain' },
    body: 'The supplied authentication is invalid',
  },
  refusals: {
    permanent: refusal(403, 'InvalidPhoneNumber'),
    temporary: refusal(501, 'GatewayError'),
    throttled: { answer: { status: 429, headers: { 'retry-after': '7' }, body: '' }, code: 'http_429' },
    account: {
      answer: json(201, { SMSMessageData: { Message: 'InsufficientBalance', Recipients: [] } }),
      code: 'InsufficientBalance',
    },
  },
  signs: false,
  receipt: ({ id, to, status }) =>
    call({
      id,
      phoneNumber: `+${to}`,
      networkCode: '61302',
      ...(status === 'delivered' ? { status: 'Success' } : { status: 'Failed', failureReason: 'AbsentSubscriber' }),
    }),
  inbound: ({ from, to, text }) => call({ id: 'inbound', from: `+${from}`, to, text, date: '2026-11-21 10:00:00' }),
  underWay: (id, _url, _now, status = 'Buffered') => call({ id, status, phoneNumber: '+22670000001' }),
};
