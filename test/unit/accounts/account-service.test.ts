import { beforeEach, describe, expect, test } from '@jest/globals';
import { makeApiKey } from '../../../src/accounts/keys/api-key.js';
import { type ErrorCode, StorageUnavailableError } from '../../../src/common/errors.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { DAY_MS } from '../../../src/common/time.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { CountingAccountStore } from './counting-account-store.js';
import { instance } from './instance.js';

let clock: FakeClock;
let store: CountingAccountStore;
let here: ReturnType<typeof instance>;

beforeEach(async () => {
  clock = new FakeClock();
  store = await CountingAccountStore.open();
  here = instance(clock, store);
  await here.accounts.createAccount({ id: 'a', name: 'Ann' });
});

const opens = async (key: string) => (await here.authenticator.authenticate({ 'x-api-key': key })).kind === 'caller';
const refusal = (code: ErrorCode, values: object = {}) => expect.objectContaining({ code, values });

describe('accounts', () => {
  test('an account is created once, under a given or a new id', async () => {
    const made = await here.accounts.createAccount({ name: 'Bob' });
    expect(made).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'Bob', createdAt: clock.now() });
    expect(await here.accounts.findAccount(made.id)).toEqual(made);
    expect((await here.accounts.listAccounts()).items.map(({ name }) => name).sort()).toEqual(['Ann', 'Bob']);
    await expect(here.accounts.createAccount({ id: 'a', name: 'Eve' })).rejects.toEqual(
      refusal('error.account_exists'),
    );
    expect(await here.accounts.findAccount('a')).toMatchObject({ name: 'Ann' });
    expect(await here.accounts.findAccount('c')).toBeUndefined();
  });

  test.each(['', 'a b', 'a\n', 'é', 'x'.repeat(65)])('refuses %j as the id of an account', async (id) => {
    await expect(here.accounts.createAccount({ id, name: 'N' })).rejects.toEqual(
      refusal('error.field_invalid', { field: 'id' }),
    );
  });

  test.each([0, -1, 1.5, Number.NaN, 1e12 + 1, '5' as unknown as number])(
    'refuses a threshold of %p units',
    async (units) => {
      const error = refusal('error.field_not_integer', { field: 'units', min: 1, max: 1e12 });
      await expect(here.accounts.setLowBalance('a', units)).rejects.toEqual(error);
    },
  );

  test('a threshold can be set and removed, but only on an account that exists', async () => {
    await here.accounts.setLowBalance('a', 1e12);
    await here.accounts.setLowBalance('a', undefined);
    for (const id of ['nobody', 5 as unknown as string]) {
      await expect(here.accounts.setLowBalance(id, 5)).rejects.toEqual(refusal('error.account_not_found'));
    }
  });

  test.each<[string, unknown, object]>([
    ['nothing', undefined, refusal('error.body_not_object')],
    ['no name', {}, refusal('error.field_not_string', { field: 'name' })],
    ['a number instead of a name', { name: 5 }, refusal('error.field_not_string', { field: 'name' })],
    ['a number instead of an id', { id: 5, name: 'N' }, refusal('error.field_not_string', { field: 'id' })],
  ])('refuses to create an account from %s', async (_, input, error) => {
    await expect(here.accounts.createAccount(input as { name: string })).rejects.toEqual(error);
    expect((await here.accounts.listAccounts()).items).toHaveLength(1);
  });

  test.each(['', '  ', 'x'.repeat(129), 'a\0b', '\ud800'])('refuses %j as the name of an account', async (name) => {
    await expect(here.accounts.createAccount({ name })).rejects.toEqual(
      refusal('error.field_invalid', { field: 'name' }),
    );
  });
});

describe('keys', () => {
  test('an account can have several keys, and they are listed without their hashes', async () => {
    const first = await here.accounts.issueKey('a');
    const second = await here.accounts.issueKey('a');
    expect([await opens(first.key), await opens(second.key)]).toEqual([true, true]);
    const listed = (await here.accounts.listKeys('a')).items;
    expect(listed).toEqual(
      [first, second]
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .map(({ id }) => ({
          id,
          accountId: 'a',
          createdAt: clock.now(),
          expiresAt: undefined,
          revokedAt: undefined,
        })),
    );
    expect(Object.keys(listed[0] ?? {})).not.toContain('hash');
  });

  test('the store holds no secret', async () => {
    const { key, id } = await here.accounts.issueKey('a');
    const secret = key.split('_')[2] ?? '';
    expect(secret).toHaveLength(32);
    expect(JSON.stringify(await store.findKey(id))).not.toContain(secret);
  });

  test('a key needs an account that exists', async () => {
    const none = refusal('error.account_not_found');
    await expect(here.accounts.issueKey('x')).rejects.toEqual(none);
    await expect(here.accounts.listKeys('x')).rejects.toEqual(none);
    await expect(here.accounts.importKey('x', makeApiKey(new UuidGenerator()).key)).rejects.toEqual(none);
  });

  test('refuses an option that nobody reads, because the caller would expect an effect', async () => {
    const { id } = await here.accounts.issueKey('a');
    const grace: object = { grace: 5 };
    const manager: object = { manager: {} };
    await expect(here.accounts.rotateKey(id, grace)).rejects.toThrow('Option grace of a rotation is not known');
    await expect(here.accounts.issueKey('a', manager)).rejects.toThrow(
      'pass your own transaction as { host: { manager } }',
    );
    await expect(here.accounts.createAccount({ name: 'B' }, manager)).rejects.toThrow('Option manager of an account');
    const [keys, accounts] = [await here.accounts.listKeys('a'), await here.accounts.listAccounts()];
    expect([keys.items.length, accounts.items.length]).toEqual([1, 1]);
  });

  test('accounts and keys are listed a hundred at a time, or up to a thousand if asked', async () => {
    for (let index = 0; index < 104; index++) await here.accounts.createAccount({ name: `n${index}` });
    for (let index = 0; index < 105; index++) await here.accounts.issueKey('a');
    const [accounts, keys] = [await here.accounts.listAccounts(), await here.accounts.listKeys('a')];
    expect([accounts.items.length, keys.items.length]).toEqual([100, 100]);
    const rest = [
      await here.accounts.listAccounts({ after: accounts.next }),
      await here.accounts.listKeys('a', { after: keys.next }),
    ];
    expect(rest.map(({ items, next }) => [items.length, next])).toEqual(Array(2).fill([5, undefined]));
    expect((await here.accounts.listAccounts({ limit: 1000 })).items).toHaveLength(105);
    const refused = refusal('error.field_invalid', { field: 'limit' });
    for (const limit of [0, 1001, 1.5, Number.NaN]) {
      await expect(here.accounts.listAccounts({ limit })).rejects.toEqual(refused);
      await expect(here.accounts.listKeys('a', { limit })).rejects.toEqual(refused);
    }
    await expect(here.accounts.listKeys('a', { after: 'nobody' })).rejects.toEqual(refusal('error.invalid_cursor'));
  });

  test('a rotated key works until its grace ends, after a day by default', async () => {
    const old = await here.accounts.issueKey('a');
    const next = await here.accounts.rotateKey(old.id);
    expect([await opens(old.key), await opens(next.key)]).toEqual([true, true]);
    clock.advance(DAY_MS - 1);
    expect(await opens(old.key)).toBe(true);
    clock.advance(1);
    expect([await opens(old.key), await opens(next.key)]).toEqual([false, true]);
    await expect(here.accounts.rotateKey(old.id)).rejects.toEqual(refusal('error.key_not_found'));
  });

  test('a rotation without grace takes effect at once, and a later rotation does not move the end of the grace', async () => {
    const old = await here.accounts.issueKey('a');
    expect(await opens(old.key)).toBe(true);
    await here.accounts.rotateKey(old.id, { graceMs: 1_000 });
    await here.accounts.rotateKey(old.id, { graceMs: DAY_MS });
    clock.advance(1_000);
    expect(await opens(old.key)).toBe(false);
    const other = await here.accounts.issueKey('a');
    expect(await opens(other.key)).toBe(true);
    await here.accounts.rotateKey(other.id, { graceMs: 0 });
    expect(await opens(other.key)).toBe(false);
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 365 * DAY_MS + 1])(
    'refuses a grace of %p',
    async (graceMs) => {
      const { id } = await here.accounts.issueKey('a');
      await expect(here.accounts.rotateKey(id, { graceMs })).rejects.toEqual(
        refusal('error.field_not_integer', { field: 'graceMs', min: 0, max: 365 * DAY_MS }),
      );
      expect((await here.accounts.listKeys('a')).items).toHaveLength(1);
    },
  );

  test('a revoked key stays revoked and cannot be rotated', async () => {
    const { key, id } = await here.accounts.issueKey('a');
    const at = clock.now();
    await here.accounts.revokeKey(id);
    clock.advance(10);
    await here.accounts.revokeKey(id);
    expect(await opens(key)).toBe(false);
    expect((await here.accounts.listKeys('a')).items).toMatchObject([{ id, revokedAt: at }]);
    await expect(here.accounts.rotateKey(id)).rejects.toEqual(refusal('error.key_not_found'));
    await here.accounts.importKey('a', key);
    expect(await opens(key)).toBe(false);
  });

  test('an unknown key can neither be rotated nor revoked', async () => {
    await expect(here.accounts.rotateKey('nope')).rejects.toEqual(refusal('error.key_not_found'));
    await expect(here.accounts.revokeKey('nope')).rejects.toEqual(refusal('error.key_not_found'));
  });

  test('if the answer to a revocation is lost, the store is read to see whether it took effect', async () => {
    const { key, id } = await here.accounts.issueKey('a');
    expect(await opens(key)).toBe(true);
    const revoke = store.revokeKey.bind(store);
    store.revokeKey = async (...args) => {
      await revoke(...args);
      throw new StorageUnavailableError('connection lost after the commit');
    };
    await expect(here.accounts.revokeKey(id)).rejects.toThrow(StorageUnavailableError);
    expect(await opens(key)).toBe(false);
  });

  test('a key made elsewhere can be imported repeatedly', async () => {
    const { key, id } = makeApiKey(new UuidGenerator());
    expect(await here.accounts.importKey('a', key)).toEqual({ id });
    expect(await here.accounts.importKey('a', key)).toEqual({ id });
    expect(await opens(key)).toBe(true);
    expect((await here.accounts.listKeys('a')).items).toHaveLength(1);
  });

  test('an import refuses a key of another account and a malformed key', async () => {
    const invalid = refusal('error.field_invalid', { field: 'key' });
    const { key } = await here.accounts.issueKey('a');
    await here.accounts.createAccount({ id: 'b', name: 'Bob' });
    await expect(here.accounts.importKey('b', key)).rejects.toEqual(invalid);
    await expect(here.accounts.importKey('a', `${key}x`)).rejects.toEqual(invalid);
    expect(await here.authenticator.authenticate({ 'x-api-key': key })).toMatchObject({ caller: { accountId: 'a' } });
  });
});
