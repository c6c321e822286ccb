import { expect, test } from '@jest/globals';
import { classifyAnswer, errorTable } from '../../../../src/transports/http/gateway.js';
import { carrierCode } from '../../../../src/transports/http/http-client.js';
import { parseReference, receiptReferenceOf, referenceOf } from '../../../../src/transports/http/message-reference.js';
import type { VendorFacts } from '../../../../src/transports/http/vendor.js';

const table = errorTable({ permanent: [1, 'bad'], temporary: ['later'], throttled: [2], account: ['broke'] });

test.each<[number, VendorFacts, object]>([
  [200, { ids: ['a'] }, { kind: 'taken', ids: ['a'] }],
  [202, { ids: ['a', 'b'], segments: 2 }, { kind: 'taken', ids: ['a', 'b'], segments: 2 }],
  [200, { ids: [' 7F\r\n', 'x'.repeat(300)] }, { kind: 'taken', ids: ['7F', 'x'.repeat(300)] }],
  [200, {}, { kind: 'unclear', code: 'malformed_answer' }],
  [202, { accepted: true }, { kind: 'taken', ids: [] }],
  [202, { accepted: true, ids: ['', '0'] }, { kind: 'taken', ids: [] }],
  [202, { accepted: true, ids: ['a'] }, { kind: 'taken', ids: ['a'] }],
  [202, { accepted: false }, { kind: 'unclear', code: 'malformed_answer' }],
  [200, { accepted: true, code: '1' }, { kind: 'permanent', code: '1' }],
  [200, { accepted: true, code: 'new' }, { kind: 'permanent', code: 'new' }],
  [500, { accepted: true }, { kind: 'unclear', code: 'http_500' }],
  [403, { accepted: true }, { kind: 'account', code: 'http_403' }],
  [200, { ids: [] }, { kind: 'unclear', code: 'malformed_answer' }],
  [200, { ids: ['a', ''], code: '2' }, { kind: 'unclear', code: 'partial_2', ids: ['a', ''] }],
  // A listed code decides, whatever the HTTP status is.
  [200, { code: '1' }, { kind: 'permanent', code: '1' }],
  [500, { code: 'later' }, { kind: 'temporary', code: 'later' }],
  [400, { code: '2' }, { kind: 'throttled', code: '2' }],
  [404, { code: 'bad' }, { kind: 'permanent', code: 'bad' }],
  [200, { code: 'broke' }, { kind: 'account', code: 'broke' }],
  // For any other code the status decides.
  [200, { code: 'new' }, { kind: 'permanent', code: 'new' }],
  [422, { code: 'new' }, { kind: 'permanent', code: 'new' }],
  [401, { code: 'new' }, { kind: 'account', code: 'new' }],
  [500, { code: 'new' }, { kind: 'unclear', code: 'new' }],
  [503, { code: 'new' }, { kind: 'throttled', code: 'new' }],
  [503, {}, { kind: 'throttled', code: 'http_503' }],
  [429, {}, { kind: 'throttled', code: 'http_429' }],
  [408, {}, { kind: 'temporary', code: 'http_408' }],
  [402, {}, { kind: 'account', code: 'http_402' }],
  [302, {}, { kind: 'account', code: 'http_302' }],
  [413, {}, { kind: 'permanent', code: 'http_413' }],
  [504, {}, { kind: 'unclear', code: 'http_504' }],
  // An id in an error is the id of the error.
  [500, { ids: ['a'] }, { kind: 'unclear', code: 'http_500' }],
  [400, { ids: ['a'] }, { kind: 'permanent', code: 'http_400' }],
])('classifies HTTP %i with %j', (status, facts, result) => {
  expect(classifyAnswer(status, facts, table)).toEqual(result);
});

test.each([
  '',
  ' ',
  '0',
  '0: Accepted for delivery',
  '000',
  'null',
  'NULL',
  'None',
  'undefined',
  'false',
  'N/A',
  '-',
  '00000000-0000-0000-0000-000000000000',
])('an answer whose id is %j has no id', (id) => {
  expect(classifyAnswer(200, { ids: [id] }, table)).toEqual({ kind: 'unclear', code: 'malformed_answer' });
  expect(classifyAnswer(200, { ids: [id], code: 'new' }, table)).toEqual({ kind: 'permanent', code: 'new' });
});

test('codes are short, plain and free of phone numbers', () => {
  expect(carrierCode('21211')).toBe('21211');
  expect(carrierCode('REJECTED_DESTINATION')).toBe('REJECTED_DESTINATION');
  expect(carrierCode('no route to +226 70 00 00 01')).toBe('no_route_to_226_70_00_00_01');
  expect(carrierCode('22670000001')).toBe('_');
  expect(carrierCode('x'.repeat(100))).toHaveLength(40);
  expect(carrierCode('<script>"\r\n\u0000')).toBe('_script_');
  expect(carrierCode('')).toBe('error');
});

test('a reference names its SMS and nothing else', () => {
  const sms = { smsId: '01999f6e-7b1c-7000-8000-000000000000', position: 99_999 };
  expect(parseReference(referenceOf(sms))).toEqual(sms);
  expect(parseReference(referenceOf({ smsId: 'sms_1', position: 0 }))).toEqual({ smsId: 'sms_1', position: 0 });
  expect(parseReference(receiptReferenceOf({ ...sms, attempt: 12 }, 'at-most-once'))).toEqual({ ...sms, attempt: 12 });
  expect(parseReference(receiptReferenceOf({ ...sms, attempt: 12 }, 'idempotent'))).toEqual(sms);
  expect(parseReference(' sms_1.0.2\r\n')).toEqual({ smsId: 'sms_1', position: 0, attempt: 2 });
  for (const other of ['', 'a', 'a.', '.1', 'a.-1', 'a.1.2.3', 'a.1.x', 'a.1.', 'a b.1', 'ä.1'])
    expect(parseReference(other)).toBeUndefined();
});
