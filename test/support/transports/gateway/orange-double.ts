import { parseJson, valueAt } from '../../../../src/transports/http/json-values.js';
import { orange } from '../../../../src/transports/http/vendors/orange.js';
import { type DoubleCall, json, type VendorDouble } from './vendor-double.js';

const CLIENT = 'orange-client';
const SECRET = 'orange-fixture-secret';
const SENDER = '2260000';
const PATH = `/smsmessaging/v1/outbound/tel%3A%2B${SENDER}/requests`;

let token = 0;
let sent = 0;

function refusal(status: number, kind: 'serviceException' | 'policyException', messageId: string) {
  const answer = json(status, {
    requestError: { [kind]: { messageId, text: 'No: %1', variables: ['tel:+22670000001'] } },
  });
  return { answer, code: messageId };
}

function call(body: unknown): DoubleCall {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function report(id: string, to: string, deliveryStatus: string): DoubleCall {
  return call({
    deliveryInfoNotification: {
      callbackData: id,
      deliveryInfo: { address: `tel:+${to}`, deliveryStatus, brandnew: 1 },
    },
  });
}

export const orangeDouble: VendorDouble = {
  name: 'orange',
  vendor: (baseUrl) => orange({ clientId: CLIENT, clientSecret: SECRET, senderNumber: SENDER, baseUrl }),
  strangersVendor: (baseUrl) => orange({ clientId: CLIENT, clientSecret: 'another', senderNumber: SENDER, baseUrl }),
  token: {
    path: '/oauth/v3/token',
    answer({ method, headers, body }) {
      const known = headers.authorization === `Basic ${btoa(`${CLIENT}:${SECRET}`)}`;
      if (method !== 'POST' || body !== 'grant_type=client_credentials' || !known) {
        return json(401, { error: 'invalid_client', error_description: 'The requested service needs credentials.' });
      }
      return json(200, { token_type: 'Bearer', access_token: `token-${++token}`, expires_in: 3600 });
    },
  },
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== PATH) return 'wrong path';
    if (headers.authorization !== `Bearer token-${token}`) return 'unauthorized';
    const request = valueAt(parseJson(body), 'outboundSMSMessageRequest');
    const address = valueAt(request, 'address');
    const [from, text] = [valueAt(request, 'senderName'), valueAt(request, 'outboundSMSTextMessage', 'message')];
    if (valueAt(request, 'senderAddress') !== `tel:+${SENDER}`) return 'wrong sender';
    if (typeof address !== 'string' || typeof from !== 'string' || typeof text !== 'string')
      return 'a field is missing';
    return { to: address.replace('tel:+', ''), from, text };
  },
  take({ to, from, text }) {
    const id = `orange-${++sent}`;
    const resourceURL = `https://api.orange.com${decodeURIComponent(PATH)}/${id}`;
    const outboundSMSTextMessage = { message: text };
    const request = {
      address: [`tel:+${to}`],
      senderAddress: `tel:+${SENDER}`,
      senderName: from,
      outboundSMSTextMessage,
    };
    return { answer: json(201, { outboundSMSMessageRequest: { ...request, resourceURL } }), ids: [id] };
  },
  unauthorized: json(401, {
    code: 42,
    message: 'Expired credentials',
    description: 'The requested service needs credentials.',
  }),
  refusals: {
    permanent: refusal(400, 'serviceException', 'SVC0004'),
    temporary: { answer: { status: 408, body: '' }, code: 'http_408' },
    throttled: { answer: json(429, { code: 53, message: 'Too many requests' }, { 'retry-after': '7' }), code: '53' },
    account: refusal(403, 'policyException', 'POL0001'),
  },
  signs: false,
  receipt: ({ id, to, status }) =>
    report(id, to, status === 'delivered' ? 'DeliveredToTerminal' : 'DeliveryImpossible'),
  inbound: ({ from, to, text }) =>
    call({
      inboundSMSMessageNotification: {
        callbackData: 'c',
        inboundSMSMessage: {
          messageId: 'inbound',
          senderAddress: `tel:+${from}`,
          destinationAddress: `tel:+${to}`,
          message: text,
        },
      },
    }),
  underWay: (id, _url, _now, state = 'MessageWaiting') => report(id, '22670000001', state),
};
