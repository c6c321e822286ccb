import { createHmac } from 'node:crypto';
import { split } from '../../../../src/sms/segmentation.js';
import { vonage } from '../../../../src/transports/http/vendors/vonage.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const KEY = 'abcd1234';
const SECRET = 'vonage-fixture-secret';
const SIGNATURE_SECRET = 'vonage-fixture-signature-secret';

/** HTTP 200 also for errors. */
function refusal(status: number) {
  const answer = json(200, { 'message-count': '1', messages: [{ status: String(status), 'error-text': 'No.' }] });
  return { answer, code: String(status) };
}

/** Signs as Vonage does (HMAC SHA-256). Written independently of the code that it checks. */
function signed(fields: Record<string, string>, now: number): DoubleCall {
  const all: Record<string, string> = { ...fields, timestamp: String(Math.floor(now / 1000)), nonce: 'a-nonce' };
  const pairs = Object.keys(all).sort();
  const data = pairs.map((name) => `&${name}=${all[name]?.replaceAll('&', '_').replaceAll('=', '_')}`).join('');
  const sig = createHmac('sha256', SIGNATURE_SECRET).update(data).digest('hex').toUpperCase();
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...all, sig }) };
}

let sent = 0;

export const vonageDouble: VendorDouble = {
  name: 'vonage',
  vendor: (baseUrl) =>
    vonage({ apiKey: KEY, apiSecret: SECRET, signatureSecret: SIGNATURE_SECRET, signatureMethod: 'sha256', baseUrl }),
  strangersVendor: (baseUrl) => vonage({ apiKey: KEY, apiSecret: 'another-secret', baseUrl }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== '/sms/json') return 'wrong path';
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return 'no form';
    const form = new URLSearchParams(body);
    if (form.get('api_key') !== KEY || form.get('api_secret') !== SECRET) return 'unauthorized';
    const [to, from, text] = [form.get('to'), form.get('from'), form.get('text')];
    if (!to || !/^\d{7,15}$/.test(to) || !from || !text) return 'a field is missing';
    const gsm = split(text).encoding === 'GSM-7';
    if (form.get('type') !== (gsm ? 'text' : 'unicode')) return 'wrong type';
    return {
      to,
      from,
      text,
      callbackUrl: form.get('callback') ?? undefined,
      reference: form.get('client-ref') ?? undefined,
    };
  },
  take({ to, text }) {
    const messages = split(text).parts.map(() => ({
      to,
      'message-id': `0A000000${++sent}`,
      status: '0',
      network: '61302',
    }));
    const ids = messages.map((part) => part['message-id']);
    return { answer: json(200, { 'message-count': String(ids.length), messages }), ids, segments: ids.length };
  },
  unauthorized: refusal(4).answer,
  refusals: { permanent: refusal(7), temporary: refusal(5), throttled: refusal(1), account: refusal(9) },
  signs: true,
  receipt({ id, to, status, reference }, _url, now) {
    const failed = status === 'delivered' ? '0' : '12';
    const time = new Date(now).toISOString().slice(0, 19).replace('T', ' ');
    const fields = {
      messageId: id,
      msisdn: to,
      to: 'A&B=C',
      status,
      'err-code': failed,
      'message-timestamp': time,
      price: '0.03',
      ...(reference === undefined ? {} : { 'client-ref': reference }),
    };
    return signed({ ...fields, status: status === 'delivered' ? status : 'expired', brandnew: 'x' }, now);
  },
  inbound: ({ from, to, text }, _url, now) =>
    signed({ messageId: '0Binbound', msisdn: from, to, text, type: 'text', keyword: 'STOP', 'api-key': KEY }, now),
  underWay: (id, _url, now, status = 'accepted') =>
    signed({ messageId: id, msisdn: '22670000001', status, 'err-code': '0' }, now),
};
