import { createHmac } from 'node:crypto';
import { measure } from '../../../../src/sms/segmentation.js';
import { twilio } from '../../../../src/transports/http/vendors/twilio.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const SID = `AC${'0123456789abcdef'.repeat(2)}`;
const TOKEN = 'twilio-fixture-token';

function refusal(status: number, code: number, headers: Record<string, string> = {}) {
  const more_info = `https://www.twilio.com/docs/errors/${code}`;
  const answer = json(status, { code, message: 'The number +22670000001 is not right.', more_info, status }, headers);
  return { answer, code: String(code) };
}

/** Signs as Twilio does. Written independently of the code that it checks. */
function signed(fields: Record<string, string>, url: string, query: string): DoubleCall {
  const names = Object.keys(fields).sort();
  const data = `${url}${query && `?${query}`}${names.map((name) => `${name}${fields[name]}`).join('')}`;
  return {
    query,
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': createHmac('sha1', TOKEN).update(Buffer.from(data, 'utf8')).digest('base64'),
    },
    body: new URLSearchParams(fields).toString(),
  };
}

let sent = 0;

export const twilioDouble: VendorDouble = {
  name: 'twilio',
  vendor: (baseUrl) => twilio({ accountSid: SID, authToken: TOKEN, baseUrl }),
  strangersVendor: (baseUrl) => twilio({ accountSid: SID, authToken: 'not-the-token', baseUrl }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== `/2010-04-01/Accounts/${SID}/Messages.json`) return 'wrong path';
    if (headers.authorization !== `Basic ${btoa(`${SID}:${TOKEN}`)}`) return 'unauthorized';
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return 'no form';
    const form = new URLSearchParams(body);
    const [to, from, text] = [form.get('To'), form.get('From'), form.get('Body')];
    if (!to?.startsWith('+') || !from || !text) return 'a field is missing';
    const callback = form.get('StatusCallback') ?? undefined;
    return {
      to: to.slice(1),
      from,
      text,
      callbackUrl: callback?.split('?')[0],
      reference: callback && (new URL(callback).searchParams.get('ref') ?? undefined),
    };
  },
  take({ to, from, text }) {
    const sid = `SM${String(++sent).padStart(32, '0')}`;
    const segments = measure(text).segments;
    const body = { sid, status: 'queued', to: `+${to}`, from, num_segments: String(segments), error_code: null };
    return { answer: json(201, body), ids: [sid], segments };
  },
  unauthorized: refusal(401, 20003).answer,
  refusals: {
    permanent: refusal(400, 21211),
    temporary: refusal(400, 21730),
    throttled: refusal(429, 20429, { 'retry-after': '7' }),
    account: refusal(401, 20003),
  },
  signs: true,
  receipt({ id, to, status, reference }, url) {
    const failed: Record<string, string> = status === 'delivered' ? {} : { ErrorCode: '30003' };
    const fields = {
      MessageSid: id,
      SmsSid: id,
      MessageStatus: status,
      To: `+${to}`,
      AccountSid: SID,
      Brandnew: 'x',
      ...failed,
    };
    return signed(fields, url, reference === undefined ? '' : `ref=${encodeURIComponent(reference)}`);
  },
  inbound({ from, to, text }, url) {
    const fields = {
      MessageSid: 'SMinbound',
      SmsStatus: 'received',
      From: `+${from}`,
      To: `+${to}`,
      Body: text,
      NumMedia: '0',
    };
    return signed(fields, url, '');
  },
  underWay: (id, url, _now, state = 'sent') =>
    signed({ MessageSid: id, MessageStatus: state, To: '+22670000001' }, url, ''),
};
