import { randomUUID } from 'node:crypto';
import { measure } from '../../../../src/sms/segmentation.js';
import { jasmin } from '../../../../src/transports/http/vendors/jasmin.js';
import type { DoubleCall, VendorDouble } from './vendor-double.js';

const LOGIN = { username: 'jasmin', password: 'fixture-secret' };
/** The maximum number of parts in the texts of the contract suite. */
const MAX_PARTS = 255;
const OPTIONS = { ...LOGIN, maxSegments: MAX_PARTS };

function refusal(status: number, message: string, code: string) {
  return { answer: { status, headers: { 'content-type': 'text/plain' }, body: `Error "${message}"` }, code };
}

function form(fields: Record<string, string>, query = ''): DoubleCall {
  return {
    query,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': 'Jasmin gateway/1.0 DLRThrower' },
    body: new URLSearchParams(fields).toString(),
  };
}

/** A receipt of level 2, as Jasmin's DLR thrower sends it. */
export function jasminReceipt(
  id: string,
  status: string,
  { level = '2', err = '000', reference = '' } = {},
): DoubleCall {
  const fields = { id, level, message_status: status, connector: 'smppcc(out)' };
  const details = {
    id_smsc: 'A1',
    sub: '001',
    dlvrd: '001',
    subdate: '2611270700',
    donedate: '2611270701',
    err,
    text: '',
  };
  const query = reference === '' ? '' : `ref=${encodeURIComponent(reference)}`;
  return form(level === '1' ? fields : { ...fields, ...details }, query);
}

export const jasminDouble: VendorDouble = {
  name: 'jasmin',
  options: OPTIONS,
  vendor: (baseUrl) => jasmin({ ...OPTIONS, baseUrl }),
  strangersVendor: (baseUrl) => jasmin({ ...OPTIONS, password: 'another', baseUrl }),
  read({ method, path, headers, body }) {
    if (method !== 'POST' || path !== '/send') return 'wrong path';
    if (headers['content-type'] !== 'application/x-www-form-urlencoded') return 'no form';
    const fields = new URLSearchParams(body);
    const field = (name: string) => fields.get(name) ?? undefined;
    if (field('username') !== LOGIN.username || field('password') !== LOGIN.password) return 'unauthorized';
    const [to, from, hex] = ['to', 'from', 'hex-content'].map(field);
    const text = hex === undefined ? field('content') : Buffer.from(hex, 'hex').swap16().toString('utf16le');
    if (!to || !from || !text) return 'a field is missing';
    if (field('coding') !== (measure(text).encoding === 'GSM-7' ? '0' : '8')) return 'wrong coding';
    const url = field('dlr-url');
    if (field('dlr') !== (url === undefined ? 'no' : 'yes')) return 'wrong dlr';
    const reference = url === undefined ? undefined : (new URL(url).searchParams.get('ref') ?? undefined);
    return { to, from, text, callbackUrl: url?.split('?')[0], reference };
  },
  take() {
    const id = randomUUID();
    return { answer: { status: 200, headers: { 'content-type': 'text/plain' }, body: `Success "${id}"` }, ids: [id] };
  },
  unauthorized: refusal(403, 'Authentication failure for username:jasmin', 'http_403').answer,
  refusals: {
    permanent: refusal(412, 'No route found', 'no_route'),
    temporary: { answer: { status: 408, body: '' }, code: 'http_408' },
    throttled: refusal(403, 'User throughput exceeded', 'throughput'),
    account: refusal(403, 'Cannot charge submit_sm, check RouterPB log file for details', 'http_403'),
  },
  signs: false,
  receipt: ({ id, status, reference }) =>
    jasminReceipt(id, status === 'delivered' ? 'DELIVRD' : 'UNDELIV', {
      err: status === 'delivered' ? '000' : '034',
      reference,
    }),
  refused: ({ id, reference }) => jasminReceipt(id, 'ESME_RINVDSTADR', { level: '1', reference }),
  namesNoNumber: true,
  inbound: ({ from, to, text }) =>
    form({
      id: 'inbound',
      from,
      to,
      'origin-connector': 'in',
      content: 'not read',
      // The octet of the data_coding, as Jasmin 0.11 sends it.
      coding: '\u0008',
      binary: Buffer.from(text, 'utf16le').swap16().toString('hex'),
    }),
  underWay: (id, _url, _now, state = 'ACCEPTD') => jasminReceipt(id, state),
};
