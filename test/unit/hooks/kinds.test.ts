import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { pointerNames } from '../../../src/hooks/kinds/fields.js';
import { HOOK_KINDS } from '../../../src/hooks/kinds/index.js';

const NOW = Date.parse('2026-11-27T05:00:00Z');
const SECRET = 'a-signing-key-of-zitadel-0123456';
const NONE = { mapping: null, proof: null };

const request = (headers: Readonly<Record<string, string>>, body = '{}') => ({
  headers,
  body: Buffer.from(body),
  now: NOW,
});

describe('the proof of Zitadel', () => {
  const { isAuthentic } = HOOK_KINDS.zitadel;
  const body = '{"args":{"oTP":"123456"}}';
  const sign = (secret: string, seconds = NOW / 1000) =>
    createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  const by = (header: string, secrets: readonly string[] = [SECRET]) =>
    isAuthentic(request({ 'zitadel-signature': header }, body), secrets, NONE);

  test('is an HMAC of the time and the body', () => {
    expect(by(`t=${NOW / 1000},v1=${sign(SECRET)}`)).toBe(true);
    expect(by(`t=${NOW / 1000},v1=${sign(SECRET).toUpperCase()}`)).toBe(true);
  });

  test('may have several signatures while its key is replaced, and so may we have several secrets', () => {
    expect(by(`t=${NOW / 1000},v1=${sign('another-key-0123456789')},v1=${sign(SECRET)}`)).toBe(true);
    expect(by(`t=${NOW / 1000},v1=${sign(SECRET)}`, ['another-key-0123456789', SECRET])).toBe(true);
  });

  test.each([
    ['none', ''],
    ['another key', `t=${NOW / 1000},v1=${sign('another-key-0123456789')}`],
    ['a time that is too old', `t=${NOW / 1000 - 301},v1=${sign(SECRET, NOW / 1000 - 301)}`],
    ['a time in the future', `t=${NOW / 1000 + 301},v1=${sign(SECRET, NOW / 1000 + 301)}`],
    ['another time than the signed one', `t=${NOW / 1000 - 1},v1=${sign(SECRET)}`],
    ['two times', `t=${NOW / 1000},t=${NOW / 1000 - 1},v1=${sign(SECRET)}`],
    ['no time', `v1=${sign(SECRET)}`],
    ['another version only', `t=${NOW / 1000},v0=${sign(SECRET)}`],
  ])('is refused: %s', (_, header) => {
    expect(by(header)).toBe(false);
  });
});

describe('the body of Zitadel', () => {
  const call = (args: object, text?: string) =>
    HOOK_KINDS.zitadel.read(
      { contextInfo: { recipientPhoneNumber: '+22670000001' }, templateData: { title: 'T', text }, args },
      NONE,
    );

  test('has its text, and the code as args.code or args.oTP', () => {
    expect(call({ oTP: '123456' }, 'Code 123456\n@example.com #123456')).toMatchObject({
      number: '+22670000001',
      text: 'Code 123456\n@example.com #123456',
      code: '123456',
    });
    expect(call({ code: 'ABC123' })).toMatchObject({ code: 'ABC123', text: undefined });
    expect(call({})).toBeUndefined();
  });

  test.each([
    [300_000_000_000, 300],
    ['5m0s', 300],
    ['1h0m0s', 3600],
    ['30s', 30],
    ['soon', undefined],
    [-1, undefined],
  ])('has a validity of %j, %s seconds', (expiry, seconds) => {
    expect(call({ code: '123456', expiry })?.validFor).toBe(seconds);
  });
});

describe('the proof of authentik', () => {
  const by = (authorization: string) => HOOK_KINDS.authentik.isAuthentic(request({ authorization }), [SECRET], NONE);
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

  test.each([
    ['Bearer', `Bearer ${SECRET}`, true],
    ['Basic with any user', basic(`anybody:${SECRET}`), true],
    ['Basic with the secret as the user', basic(`${SECRET}:`), false],
    ['Basic without a colon', basic(SECRET), false],
    ['another token', 'Bearer another', false],
    ['nothing', '', false],
  ])('%s', (_, authorization, authentic) => {
    expect(by(authorization)).toBe(authentic);
  });
});

describe('a generic hook', () => {
  const { isAuthentic, read } = HOOK_KINDS.generic;

  test.each([
    ['hex', 'hex', ''],
    ['base64', 'base64', ''],
    ['hex behind sha256=', 'hex', 'sha256='],
  ] as const)('proves its body by an HMAC in %s', (_, encoding, prefix) => {
    const proof = { kind: 'hmac', header: 'X-Signature', encoding } as const;
    const value = prefix + createHmac('sha256', SECRET).update('{"a":1}').digest(encoding);
    const by = (body: string) => isAuthentic(request({ 'x-signature': value }, body), [SECRET], { proof });
    expect([by('{"a":1}'), by('{"a":2}')]).toEqual([true, false]);
  });

  test('proves its call by a header with the secret', () => {
    const proof = { kind: 'header', header: 'X-Token' } as const;
    const by = (value: string) => isAuthentic(request({ 'x-token': value }), [SECRET], { proof });
    expect([by(SECRET), by(`Bearer ${SECRET}`), by(`${SECRET}x`), by('')]).toEqual([true, true, false, false]);
  });

  test('reads its values by JSON pointers', () => {
    const mapping = { number: '/to/0', code: '/data/a~1b', id: '/id', valid_for: '/seconds' };
    const order = { number: '70000001', code: '123456', id: '7', validFor: 60, text: undefined };
    expect(read({ to: ['70000001'], data: { 'a/b': 123456 }, id: 7, seconds: '60' }, { mapping })).toEqual(order);
    expect(read({ to: ['70000001'], data: { 'a/b': '123456' } }, { mapping })).toBeUndefined();
    expect(read({ to: [], data: { 'a/b': '123456' }, id: 7 }, { mapping })).toBeUndefined();
    expect(read(Object.create({ to: ['70000001'] }), { mapping })).toBeUndefined();
  });

  test.each([
    ['', []],
    ['/', ['']],
    ['/a/b', ['a', 'b']],
    ['/~01~1', ['~1/']],
    ['a', undefined],
    ['/~2', undefined],
  ])('knows the pointer %j', (pointer, names) => {
    expect(pointerNames(pointer)).toEqual(names);
  });
});

describe('secrets', () => {
  test.each([
    ['supabase', 'v1,whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDqB2vxTQxTWE=', true],
    ['supabase', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDqB2vxTQxTWE=', true],
    ['supabase', 'v1,whsec_c2hvcnQ=', false],
    ['supabase', 'C2FVsBQIhrscChlQIMV+b5sSYspob7oDqB2vxTQxTWE=', false],
    ['zitadel', SECRET, true],
    ['zitadel', 'short', false],
    ['logto', 'a secret with blanks in it', false],
  ] as const)('of %s: %s', (kind, secret, usable) => {
    expect(HOOK_KINDS[kind].isSecret(secret)).toBe(usable);
  });

  test.each(Object.entries(HOOK_KINDS))('that we make for %s can be used', (_, kind) => {
    const secret = kind.secretOf(Buffer.alloc(32, 7));
    expect(kind.isSecret(secret)).toBe(true);
  });
});
