import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isSignatureName } from '../../../src/accounts/signatures/signature-name.js';
import type { ErrorCode } from '../../../src/common/errors.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { CountingAccountStore } from './counting-account-store.js';
import { instance } from './instance.js';

const refusal = (code: ErrorCode) => expect.objectContaining({ code });

describe('isSignatureName', () => {
  test.each(['A', 'ACME', 'A&B Co.', 'my_shop-1', '12345678901'.replace('1', 'x'), ' A ', '123', '123456789012345'])(
    '%j may be registered',
    (name) => expect(isSignatureName(name)).toBe(true),
  );

  test.each([
    '',
    ' ',
    '12',
    '1234567890123456',
    'ABCDEFGHIJKL',
    '...',
    '1 2',
    'Été',
    'A\n',
    'A+',
    '+226',
    'Ａ',
    '１２３',
  ])('%j may not', (name) => expect(isSignatureName(name)).toBe(false));

  test('agrees with the sentence in the API documentation', () => {
    const near = fc.string({ unit: fc.constantFrom(...'Az09 ._&-+é\n'), maxLength: 17 });
    fc.assert(
      fc.property(near, (name) => {
        const chars = [...name];
        const short = chars.length >= 1 && chars.length <= 11 && chars.every((c) => 'Az09 ._&-'.includes(c));
        const digits = chars.length >= 3 && chars.length <= 15 && chars.every((c) => '09'.includes(c));
        expect(isSignatureName(name)).toBe((short && chars.some((c) => 'Az'.includes(c))) || digits);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('SignatureService', () => {
  let clock: FakeClock;
  let here: ReturnType<typeof instance>;

  beforeEach(async () => {
    clock = new FakeClock();
    here = instance(clock, await CountingAccountStore.open());
    await here.accounts.createAccount({ id: 'a', name: 'Ann' });
  });

  test('registers, verifies, rejects and lists signatures', async () => {
    const createdAt = clock.now();
    const pending = {
      accountId: 'a',
      name: 'ACME',
      status: 'pending',
      reason: undefined,
      createdAt,
      decidedAt: undefined,
    };
    expect(await here.names.register('a', 'ACME')).toEqual(pending);
    clock.advance(10);
    const verified = { ...pending, status: 'verified', decidedAt: clock.now() };
    expect(await here.names.verify('a', 'ACME')).toEqual(verified);
    expect(await here.names.register('a', 'ACME')).toEqual(verified);
    clock.advance(10);
    const rejected = { ...pending, status: 'rejected', reason: 'not theirs', decidedAt: clock.now() };
    expect(await here.names.reject('a', 'ACME', 'not theirs')).toEqual(rejected);
    expect(await here.names.list('a')).toEqual([rejected]);
    expect(await here.names.verify('a', 'ACME')).toMatchObject({ status: 'verified', reason: undefined });
  });

  test('lists page by page in the order of the names, and without a page the first thousand', async () => {
    const nameOf = (index: number) => `N${String(index).padStart(4, '0')}`;
    for (let index = 1001; index >= 0; index--) await here.names.register('a', nameOf(index));
    const first = await here.names.list('a', {});
    expect([first.items.length, first.items[0]?.name, first.next]).toEqual([100, 'N0000', 'N0099']);
    const second = await here.names.list('a', { limit: 2, after: first.next });
    expect([second.items.map(({ name }) => name), second.next]).toEqual([['N0100', 'N0101'], 'N0101']);
    expect(await here.names.list('a', { after: 'N1001' })).toEqual({ items: [], next: undefined });
    const all = await here.names.list('a');
    expect([all.length, all.at(-1)?.name]).toEqual([1000, 'N0999']);
  });

  test.each([0, 1001, 1.5, '2' as unknown as number])('refuses a page of %p names', async (limit) => {
    await expect(here.names.list('a', { limit })).rejects.toEqual(refusal('error.field_invalid'));
  });

  test.each(['', 'ACME', 'A\0', 'TOO LONG A NAME'])(
    'refuses a page that begins after %j, which is not a name of the account',
    async (after) => {
      await here.accounts.createAccount({ id: 'b', name: 'Bob' });
      await here.names.register('b', 'ACME');
      await expect(here.names.list('a', { after })).rejects.toEqual(refusal('error.invalid_cursor'));
    },
  );

  test('refuses inputs that are not valid', async () => {
    await expect(here.names.register('a', 'TOO LONG A NAME')).rejects.toEqual(refusal('error.signature_format'));
    await expect(here.names.register('x', 'ACME')).rejects.toEqual(refusal('error.account_not_found'));
    await expect(here.names.list('x')).rejects.toEqual(refusal('error.account_not_found'));
    await expect(here.names.verify('a', 'ACME')).rejects.toEqual(refusal('error.signature_not_found'));
    await expect(here.names.reject('x', 'ACME')).rejects.toEqual(refusal('error.signature_not_found'));
    expect(await here.names.list('a')).toEqual([]);
  });

  test('refuses input that is not a string, because each database would turn it into another name', async () => {
    const number = 36111 as unknown as string;
    await expect(here.names.register('a', number)).rejects.toEqual(refusal('error.signature_format'));
    await here.names.register('a', '36111');
    await expect(here.names.verify('a', number)).rejects.toEqual(refusal('error.signature_not_found'));
    await expect(here.names.reject('a', '36111', 'a\0b')).rejects.toEqual(refusal('error.field_invalid'));
    expect(await here.names.list('a')).toMatchObject([{ name: '36111', status: 'pending' }]);
  });
});
