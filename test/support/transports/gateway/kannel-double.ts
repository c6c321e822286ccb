import { kannelGateway } from './kannel-gateway.js';
import type { VendorDouble } from './vendor-double.js';

const NUMBERS = { delivered: '1', undelivered: '2' } as const;

/** A gateway without ids, which calls back with the reference that it was given. */
export const kannelDouble: VendorDouble = {
  name: 'kannel',
  vendor: kannelGateway,
  strangersVendor: kannelGateway,
  read({ method, path }) {
    const { pathname, searchParams: query } = new URL(path, 'http://kannel.example');
    if (method !== 'GET' || pathname !== '/cgi-bin/sendsms') return 'wrong path';
    if (query.get('username') !== 'test' || query.get('password') !== 'secret') return 'unauthorized';
    const [to, from, text, dlrUrl] = ['to', 'from', 'text', 'dlr-url'].map((name) => query.get(name) ?? undefined);
    if (!to || !from || !text) return 'a field is missing';
    const reference = dlrUrl === undefined ? undefined : (new URL(dlrUrl).searchParams.get('ref') ?? undefined);
    return { to, from, text, callbackUrl: dlrUrl, reference };
  },
  take: () => ({ answer: { status: 202, body: '0: Accepted for delivery' }, ids: [] }),
  unauthorized: { status: 403, body: 'Authorization failed for sendsms' },
  refusals: {
    permanent: { answer: { status: 403, body: 'Not routable. Do not try again.' }, code: 'not_routable' },
    temporary: { answer: { status: 503, body: 'Temporal failure, try again later.' }, code: 'http_503' },
    throttled: { answer: { status: 503, body: 'Temporal failure, try again later.' }, code: 'http_503' },
    account: { answer: { status: 403, body: 'Authorization failed for sendsms' }, code: 'http_403' },
  },
  signs: false,
  receipt: ({ status, reference = '' }) => ({
    query: `ref=${reference}&state=${NUMBERS[status]}`,
    headers: {},
    body: '',
  }),
  inbound: ({ from, to, text }) => ({
    query: new URLSearchParams({ from, to, text }).toString(),
    headers: {},
    body: '',
  }),
  underWay: (id, _url, _now, state = '8') => ({ query: `ref=${id}&state=${state}`, headers: {}, body: '' }),
};
