import { parseJson, textOf, valueAt } from '../../../../src/transports/http/json-values.js';
import { mtn } from '../../../../src/transports/http/vendors/mtn.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const CLIENT = 'mtn-client';
const SECRET = 'mtn-fixture-secret';

const OPTIONS = { clientId: CLIENT, clientSecret: SECRET };

let token = 0;
let sent = 0;

function refusal(status: number, statusCode: string) {
  return { answer: json(status, { statusCode, statusMessage: 'No.', transactionId: 'x' }), code: statusCode };
}

function call(body: unknown): DoubleCall {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

export const mtnDouble: VendorDouble = {
  name: 'mtn',
  options: OPTIONS,
  vendor: (baseUrl) => mtn({ ...OPTIONS, baseUrl }),
  strangersVendor: (baseUrl) => mtn({ clientId: CLIENT, clientSecret: 'another', baseUrl }),
  token: {
    path: '/v1/oauth/access_token?grant_type=client_credentials',
    answer({ method, body }) {
      const known = body === new URLSearchParams({ client_id: CLIENT, client_secret: SECRET }).toString();
      if (method !== 'POST' || !known) return json(401, { ErrorCode: 'invalid_client', Error: 'Client is invalid' });
      return json(200, { token_type: 'BearerToken', access_token: `token-${++token}`, expires_in: '3599' });
    },
  },
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== '/v2/messages/sms/outbound') return 'wrong path';
    if (headers.authorization !== `Bearer token-${token}`) return 'unauthorized';
    const request = parseJson(body);
    const [from, text, reference] = ['senderAddress', 'message', 'clientCorrelator'].map((name) =>
      textOf(valueAt(request, name)),
    );
    const to = textOf(valueAt(request, 'receiverAddress', 0));
    if (!to || !from || !text || !reference || reference.length > 36) return 'a field is missing';
    return { to, from, text, reference };
  },
  take() {
    const id = `mtn-${++sent}`;
    return { answer: json(201, { statusCode: '0000', statusMessage: 'Successful', transactionId: id }), ids: [id] };
  },
  unauthorized: json(401, { fault: { faultstring: 'Invalid Access Token' } }),
  refusals: {
    permanent: refusal(400, '4000'),
    temporary: { answer: { status: 408, body: '' }, code: 'http_408' },
    throttled: { answer: json(429, { statusCode: '6000' }, { 'retry-after': '7' }), code: '6000' },
    account: refusal(402, '5001'),
  },
  signs: false,
  receipt: ({ id, status, reference }) =>
    call({
      TransactionID: id,
      ...(reference === undefined ? {} : { clientCorrelator: reference }),
      deliveryStatus: status === 'delivered' ? 'DeliveredToTerminal' : 'DeliveryImpossible',
    }),
  namesNoNumber: true,
  inbound: ({ from, to, text }) =>
    call({ id: null, senderAddress: from, receiverAddress: to, message: text, created: 1678794364855 }),
  underWay: (id, _url, _now, deliveryStatus = 'MessageWaiting') =>
    call({ TransactionID: id, clientCorrelator: 'string', deliveryStatus }),
};
