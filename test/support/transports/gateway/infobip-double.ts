import { measure } from '../../../../src/sms/segmentation.js';
import { parseJson, valueAt } from '../../../../src/transports/http/json-values.js';
import { infobip } from '../../../../src/transports/http/vendors/infobip.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const KEY = 'infobip-fixture-key';

function rejected(id: number, name: string) {
  const status = { groupId: 5, groupName: 'REJECTED', id, name, description: 'No.' };
  return { answer: json(200, { messages: [{ messageId: 'x', status, destination: '22670000001' }] }), code: name };
}

function call(result: unknown): DoubleCall {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ results: [result], brandnew: 1 }) };
}

const STATUS = {
  delivered: { groupId: 3, groupName: 'DELIVERED', id: 5, name: 'DELIVERED_TO_HANDSET' },
  undelivered: { groupId: 2, groupName: 'UNDELIVERABLE', id: 9, name: 'UNDELIVERABLE_NOT_DELIVERED' },
};

let sent = 0;

export const infobipDouble: VendorDouble = {
  name: 'infobip',
  vendor: (baseUrl) => infobip({ baseUrl, apiKey: KEY }),
  strangersVendor: (baseUrl) => infobip({ baseUrl, apiKey: 'another' }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== '/sms/3/messages') return 'wrong path';
    if (headers.authorization !== `App ${KEY}`) return 'unauthorized';
    if (headers['content-type'] !== 'application/json') return 'no JSON';
    const message = valueAt(parseJson(body), 'messages', 0);
    const to = valueAt(message, 'destinations', 0, 'to');
    const [from, text] = [valueAt(message, 'sender'), valueAt(message, 'content', 'text')];
    if (typeof to !== 'string' || typeof from !== 'string' || typeof text !== 'string') return 'a field is missing';
    const [url, data] = [valueAt(message, 'webhooks', 'delivery', 'url'), valueAt(message, 'webhooks', 'callbackData')];
    return { to, from, text, callbackUrl: url as string | undefined, reference: data as string | undefined };
  },
  take({ to, text }) {
    const messageId = `infobip-${++sent}`;
    const segments = measure(text).segments;
    const status = { groupId: 1, groupName: 'PENDING', id: 26, name: 'PENDING_ACCEPTED' };
    const message = { messageId, status, destination: to, details: { messageCount: segments } };
    return { answer: json(200, { bulkId: 'b', messages: [message] }), ids: [messageId], segments };
  },
  unauthorized: json(401, { errorCode: 'E401', description: 'Invalid credentials.', violations: [], resources: [] }),
  refusals: {
    permanent: rejected(52, 'REJECTED_DESTINATION'),
    temporary: rejected(21, 'REJECTED_SYSTEM_ERROR'),
    throttled: { answer: json(429, { errorCode: 'E429' }, { 'retry-after': '7' }), code: 'E429' },
    account: rejected(12, 'REJECTED_NOT_ENOUGH_CREDITS'),
  },
  signs: false,
  receipt({ id, to, status, reference }, _url, now) {
    const error =
      status === 'delivered'
        ? { groupId: 0, id: 0, name: 'NO_ERROR', permanent: false }
        : { groupId: 1, id: 27, name: 'EC_ABSENT_SUBSCRIBER', permanent: false };
    const doneAt = new Date(now).toISOString().replace('Z', '+0000');
    return call({ messageId: id, to, doneAt, status: STATUS[status], error, callbackData: reference, mccMnc: '61302' });
  },
  inbound: ({ from, to, text }) => call({ messageId: 'inbound', from, to, text, cleanText: text, smsCount: 1 }),
  underWay: (id, _url, _now, state) =>
    call({ messageId: id, status: { groupId: state ?? 1, groupName: 'PENDING', id: 7, name: 'PENDING_ENROUTE' } }),
};
