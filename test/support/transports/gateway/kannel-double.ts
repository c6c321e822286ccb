import { measure } from '../../../../src/sms/segmentation.js';
import { kannel } from '../../../../src/transports/http/vendors/kannel.js';
import type { VendorDouble } from './vendor-double.js';

const LOGIN = { username: 'test', password: 'fixture-secret' };
/** The maximum number of parts in the texts of the contract suite. */
const MAX_MESSAGES = 255;
const OPTIONS = { ...LOGIN, maxSegments: MAX_MESSAGES };
const NUMBERS = { delivered: '1', undelivered: '2' } as const;

/** Kannel: a gateway without ids, which calls back with the reference that it was given. */
export const kannelDouble: VendorDouble = {
  name: 'kannel',
  hasNoIds: true,
  namesNoNumber: true,
  options: OPTIONS,
  vendor: (baseUrl) => kannel({ ...OPTIONS, baseUrl }),
  strangersVendor: (baseUrl) => kannel({ ...OPTIONS, password: 'another', baseUrl }),
  read({ method, path }) {
    const { pathname, searchParams: query } = new URL(path, 'http://kannel.example');
    if (method !== 'GET' || pathname !== '/cgi-bin/sendsms') return 'wrong path';
    if (query.get('username') !== LOGIN.username || query.get('password') !== LOGIN.password) return 'unauthorized';
    const [to, from, text, dlrUrl] = ['to', 'from', 'text', 'dlr-url'].map((name) => query.get(name) ?? undefined);
    if (!to || !from || !text) return 'a field is missing';
    const reference = dlrUrl === undefined ? undefined : (new URL(dlrUrl).searchParams.get('ref') ?? undefined);
    if (query.get('charset') !== 'UTF-8') return 'wrong charset';
    if (query.get('coding') !== (measure(text).encoding === 'GSM-7' ? '0' : '2')) return 'wrong coding';
    return { to, from, text, callbackUrl: dlrUrl?.split('?')[0], reference };
  },
  take: ({ reference }) => ({
    answer: { status: 202, body: '0: Accepted for delivery' },
    ids: reference === undefined ? [] : [reference],
  }),
  unauthorized: { status: 403, body: 'Authorization failed for sendsms' },
  refusals: {
    permanent: { answer: { status: 403, body: 'Not routable. Do not try again.' }, code: 'not_routable' },
    temporary: { answer: { status: 503, body: 'Temporal failure, try again later.' }, code: 'http_503' },
    throttled: { answer: { status: 503, body: 'Temporal failure, try again later.' }, code: 'http_503' },
    account: { answer: { status: 403, body: 'Authorization failed for sendsms' }, code: 'http_403' },
  },
  signs: false,
  receipt: ({ status, reference = '' }) => ({
    method: 'GET',
    query: `ref=${reference}&state=${NUMBERS[status]}`,
    headers: {},
    body: '',
  }),
  refused: ({ reference = '' }) => ({ method: 'GET', query: `ref=${reference}&state=16`, headers: {}, body: '' }),
  inbound: ({ from, to, text }) => ({
    method: 'GET',
    query: new URLSearchParams({ id: 'inbound', from, to, text, charset: 'UTF-8' }).toString(),
    headers: {},
    body: '',
  }),
  underWay: (id, _url, _now, state = '8') => ({
    method: 'GET',
    query: `ref=${id}&state=${state}`,
    headers: {},
    body: '',
  }),
};
