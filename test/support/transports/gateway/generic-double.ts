import { parseJson, textOf, valueAt } from '../../../../src/transports/http/json-values.js';
import type { HttpVendor } from '../../../../src/transports/http/vendor.js';
import { generic } from '../../../../src/transports/http/vendors/generic.js';
import { json, type VendorDouble } from './vendor-double.js';

const KEY = 'acme-fixture-key';

/** A gateway as a host would describe it. */
export function acme(baseUrl: string, key = KEY): HttpVendor {
  return generic({
    name: 'acme',
    baseUrl,
    request: ({ number, signature, text }, { reference, callbackUrl }) => ({
      path: '/v1/messages?answer=json',
      headers: { authorization: `Bearer ${key}` },
      json: { to: number, from: signature, text, reference, callbackUrl },
    }),
    read: ({ json }) => {
      const id = textOf(valueAt(json, 'id'));
      return { ids: id === undefined ? [] : [id], code: textOf(valueAt(json, 'error')) };
    },
    errors: { temporary: ['later'], throttled: ['slow_down'], account: ['no_credit'] },
    callback: {
      read: (content) => {
        const [id, state] = [content.field('id'), content.field('state')];
        if (id === undefined) return undefined;
        const [from, to, text] = [content.field('from'), content.field('to'), content.field('text')];
        if (from !== undefined && to !== undefined) return { inbound: [{ id, from, to, text: text ?? '' }] };
        const number = content.field('number');
        if (state === 'DELIVRD') return { receipts: [{ id, number, status: 'delivered' }] };
        return state === 'UNDELIV' ? { receipts: [{ id, number, status: 'undelivered', error: '034' }] } : {};
      },
      answer: { status: 204 },
    },
  });
}

let sent = 0;

const form = (fields: Record<string, string>) => ({
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

export const genericDouble: VendorDouble = {
  name: 'acme',
  vendor: (baseUrl) => acme(baseUrl),
  strangersVendor: (baseUrl) => acme(baseUrl, 'another'),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== '/v1/messages?answer=json') return 'wrong path';
    if (headers.authorization !== `Bearer ${KEY}`) return 'unauthorized';
    const request = parseJson(body);
    const [to, from, text] = ['to', 'from', 'text'].map((name) => textOf(valueAt(request, name)));
    if (!to || !from || !text) return 'a field is missing';
    return { to, from, text, callbackUrl: textOf(valueAt(request, 'callbackUrl')) };
  },
  take() {
    const id = `acme-${++sent}`;
    return { answer: json(202, { id }), ids: [id] };
  },
  unauthorized: { status: 403, body: '' },
  refusals: {
    permanent: { answer: json(422, { error: 'bad_number' }), code: 'bad_number' },
    temporary: { answer: json(409, { error: 'later' }), code: 'later' },
    throttled: { answer: json(400, { error: 'slow_down' }, { 'retry-after': '7' }), code: 'slow_down' },
    account: { answer: json(200, { error: 'no_credit' }), code: 'no_credit' },
  },
  signs: false,
  receipt: ({ id, to, status }) =>
    form({ id, number: to, state: status === 'delivered' ? 'DELIVRD' : 'UNDELIV', brandnew: 'x' }),
  inbound: ({ from, to, text }) => form({ id: 'inbound', from, to, text }),
  underWay: (id, _url, _now, state = 'ENROUTE') => form({ id, state }),
};
