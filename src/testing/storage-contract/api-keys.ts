import assert from 'node:assert/strict';
import type { StoredApiKey } from '../../accounts/account-store.js';
import type { PageRequest } from '../../common/page.js';
import { ACCOUNT, range, SECOND, START } from './fixtures.js';
import { pages } from './pages.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

function aKey(id: string, over: Partial<StoredApiKey> = {}): StoredApiKey {
  const hash = '0123456789abcdef'.repeat(4);
  return { id, accountId: ACCOUNT, hash, createdAt: START, expiresAt: undefined, revokedAt: undefined, ...over };
}

export function apiKeyTests({ test }: TestRunner, world: World): void {
  const find = (id: string) => world.accounts.findKey(id);

  test('a key is added once, and the first stays', async () => {
    await world.fund(0);
    const key = aKey('k1', { expiresAt: START + SECOND });
    assert.equal(await world.accounts.addKey(key), true);
    assert.equal(await world.accounts.addKey(aKey('k1', { hash: 'f'.repeat(64) })), false);
    assert.deepEqual(await find('k1'), key);
    assert.equal(await find('k2'), undefined);
  });

  test('key ids are compared exactly: they are base62, case counts', async () => {
    await world.fund(0);
    for (const id of ['abcD', 'ABCd']) assert.equal(await world.accounts.addKey(aKey(id)), true);
    assert.equal((await find('abcD'))?.id, 'abcD');
    assert.equal((await find('ABCd'))?.id, 'ABCd');
    assert.equal(await find('abcd'), undefined);
  });

  test('an account has several keys, and only its own are listed', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    for (const key of [aKey('k1'), aKey('k2'), aKey('k3', { accountId: 'acc2' })]) await world.accounts.addKey(key);
    const list = (accountId: string) => world.accounts.listKeys(accountId, { limit: 9 });
    assert.deepEqual(
      (await list(ACCOUNT)).items.map(({ id }) => id),
      ['k2', 'k1'],
    );
    assert.deepEqual(await list('acc2'), { items: [aKey('k3', { accountId: 'acc2' })], next: undefined });
    assert.deepEqual(await list('acc3'), { items: [], next: undefined });
  });

  test('keys are listed newest first, page by page, behind a key of the account or nowhere', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    for (const index of range(5)) await world.accounts.addKey(aKey(`k${index}`, { createdAt: START + (index % 3) }));
    await world.accounts.addKey(aKey('other', { accountId: 'acc2' }));
    const list = (page: PageRequest) => world.accounts.listKeys(ACCOUNT, page);
    assert.deepEqual(await pages(list, 2), [['k2', 'k4'], ['k1', 'k3'], ['k0']]);
    for (const after of ['other', 'k9']) {
      await assert.rejects(list({ limit: 2, after }), { code: 'error.invalid_cursor' });
    }
  });

  test('a key gets an end; an earlier one replaces it, a later one does not', async () => {
    await world.fund(0);
    await world.accounts.addKey(aKey('k1'));
    for (const [at, end] of [
      [20, 20],
      [30, 20],
      [10, 10],
    ] as const) {
      assert.equal(await world.accounts.expireKey('k1', START + at), true);
      assert.equal((await find('k1'))?.expiresAt, START + end);
    }
  });

  test('a key that was made with an end keeps it when it is the earlier one', async () => {
    await world.fund(0);
    await world.accounts.addKey(aKey('k1', { expiresAt: START + 5 }));
    assert.equal(await world.accounts.expireKey('k1', START + 9), true);
    assert.equal((await find('k1'))?.expiresAt, START + 5);
  });

  test('a revoked key stays revoked, whatever happens to its end', async () => {
    await world.fund(0);
    await world.accounts.addKey(aKey('k1'));
    await world.accounts.addKey(aKey('k2'));
    assert.equal(await world.accounts.revokeKey('k1', START + 1), true);
    assert.equal(await world.accounts.expireKey('k1', START + SECOND), true);
    assert.equal((await find('k1'))?.revokedAt, START + 1);
    assert.deepEqual(await find('k2'), aKey('k2'));
  });

  test('an unknown key can be neither ended nor revoked', async () => {
    await world.fund(0);
    await world.accounts.addKey(aKey('k1'));
    assert.equal(await world.accounts.expireKey('K1', START), false);
    assert.equal(await world.accounts.revokeKey('k2', START), false);
    assert.deepEqual(await find('k1'), aKey('k1'));
  });
}
