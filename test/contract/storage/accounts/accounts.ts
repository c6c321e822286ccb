import assert from 'node:assert/strict';
import { type Signature, type StoredApiKey, UNRESTRICTED } from '../../../../src/accounts/account-records.js';
import { HOST } from '../../../../src/accounts/audit/audit-entry.js';
import type { PageRequest } from '../../../../src/common/listing/page.js';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, onceKey, range, START } from '../fixtures.js';
import { pages } from '../outbox/listing.js';
import type { StorageFixture } from '../storage-fixture.js';

export function accountTests({ test }: TestRunner, world: StorageFixture): void {
  test('an account is created once, and the first stays', async () => {
    const account = { id: 'acc1', name: 'First', createdAt: START };
    assert.equal(await world.accounts.createAccount(account), true);
    assert.equal(await world.accounts.createAccount({ ...account, name: 'Second' }), false);
    assert.deepEqual(await world.accounts.findAccount('acc1'), account);
    assert.deepEqual(await world.accounts.listAccounts({ limit: 9 }), { items: [account], next: undefined });
  });

  test('an account starts with a balance of 0', async () => {
    await world.accounts.createAccount({ id: 'acc1', name: 'First', createdAt: START });
    assert.equal(await world.ledger.balance('acc1'), 0);
  });

  test('creating an account again does not change its balance', async () => {
    await world.fund(7);
    assert.equal(await world.accounts.createAccount({ id: 'acc1', name: 'Again', createdAt: START }), false);
    await world.holds(7);
  });

  test('an unknown account is not found', async () => {
    await world.fund(1);
    assert.equal(await world.accounts.findAccount('acc2'), undefined);
    assert.equal(await world.ledger.balance('acc2'), undefined);
  });

  test('names are stored unchanged', async () => {
    const names = ['L\'Étoile "d\'or"', 'back\\slash \\n \\\\', '株式会社 😀', '%s $1 :x ; -- ', '100 % _'];
    for (const [index, name] of names.entries()) {
      const account = { id: `acc${index}`, name, createdAt: START + index };
      await world.accounts.createAccount(account);
      assert.deepEqual(await world.accounts.findAccount(account.id), account);
    }
  });

  test('ids are compared exactly: case, accents and quotes count', async () => {
    const ids = ['acc', 'ACC', 'Acc', 'açc', "a'c", 'a"c', 'a\\c', 'a%c', 'a_c'];
    for (const [index, id] of ids.entries()) await world.fund(index + 1, id);
    for (const [index, id] of ids.entries()) assert.equal(await world.ledger.balance(id), index + 1, id);
    assert.deepEqual((await world.accounts.listAccounts({ limit: 99 })).items.map(({ id }) => id).sort(), ids.sort());
    await world.sound();
  });

  test('accounts are listed newest first, page by page, each once, while new ones arrive', async () => {
    const create = (id: string, at: number) => world.accounts.createAccount({ id, name: id, createdAt: START + at });
    for (const [index, id] of ['a', 'c', 'b'].entries()) await create(id, index);
    await create('d', 2);
    const read = await pages(
      (page) => world.accounts.listAccounts(page),
      2,
      (turn) => create(`late${turn}`, 9),
    );
    assert.deepEqual(read, [
      ['d', 'b'],
      ['c', 'a'],
    ]);
    await assert.rejects(world.accounts.listAccounts({ limit: 2, after: 'nobody' }), { code: 'error.invalid_cursor' });
  });
}

/** A key of `ACCOUNT`, changed by `over`. */
export function aKey(id: string, over: Partial<StoredApiKey> = {}): StoredApiKey {
  const hash = '0123456789abcdef'.repeat(4);
  const made = { createdAt: START, expiresAt: undefined, revokedAt: undefined, family: undefined, usedAt: undefined };
  return { id, accountId: ACCOUNT, hash, ...UNRESTRICTED, ...made, ...over };
}

export function apiKeyTests({ test }: TestRunner, world: StorageFixture): void {
  const find = (id: string) => world.accounts.findKey(id);

  test('a key is added once, and the first stays', async () => {
    await world.fund(0);
    const key = aKey('k1', { expiresAt: START + SECOND_MS });
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

  test('keys are listed newest first, page by page, after a key of the account or not at all', async () => {
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

  /** Replaces a key by `next`, and leaves it valid until `end`. */
  const rotate = (id: string, next: string, end: number) =>
    world.accounts.rotateKey(id, aKey(next, { family: id }), START + end);
  const unknown = { code: 'error.key_not_found' };

  test('a key is replaced: the new one is added and the old one gets an end, unless that is later than its present end', async () => {
    await world.fund(0);
    await world.accounts.addKey(aKey('k1'));
    for (const [at, end] of [
      [20, 20],
      [30, 20],
      [10, 10],
    ] as const) {
      assert.equal(await rotate('k1', `n${at}`, at), undefined);
      assert.equal((await find('k1'))?.expiresAt, START + end);
      assert.deepEqual(await find(`n${at}`), aKey(`n${at}`, { family: 'k1' }));
    }
  });

  test('a key that was created with an end keeps it if it is the earlier one', async () => {
    await world.fund(0);
    await world.accounts.addKey(aKey('k1', { expiresAt: START + 5 }));
    await rotate('k1', 'k2', 9);
    assert.equal((await find('k1'))?.expiresAt, START + 5);
  });

  test('the limits of a key are stored unchanged', async () => {
    await world.fund(0);
    const limits = { scopes: ['sms:send', 'otp:send'], cidrs: ['192.0.2.0/24', '2001:db8::/32'] } as const;
    const key = aKey('k1', { name: 'L\'Étoile "d\'or" 😀', ...limits, dailyUnits: 1e12, perMinute: 60, family: 'k0' });
    await world.accounts.addKey(key);
    assert.deepEqual(await find('k1'), key);
    assert.deepEqual((await world.accounts.listKeys(ACCOUNT, { limit: 9 })).items, [key]);
  });

  test('the last use of a key is written only if it is later', async () => {
    await world.fund(0);
    for (const id of ['k1', 'k2', 'k3']) await world.accounts.addKey(aKey(id));
    const use = (uses: Record<string, number>) => world.accounts.useKeys(new Map(Object.entries(uses)));
    await use({ k1: START, k2: START + 9, nobody: START });
    await use({ k1: START + 9, k2: START });
    const used = await Promise.all(['k1', 'k2', 'k3'].map(async (id) => (await find(id))?.usedAt));
    assert.deepEqual(used, [START + 9, START + 9, undefined]);
  });

  test('a reply is kept with a new key, and a repeat gets it and adds nothing', async () => {
    await world.fund(0);
    const kept = { once: onceKey(), reply: { id: 'k1', key: null } };
    assert.equal(await world.accounts.addKey(aKey('k1'), undefined, HOST, kept), true);
    const second = { ...kept, reply: { id: 'k2', key: null } };
    assert.deepEqual(await world.accounts.addKey(aKey('k2'), undefined, HOST, second), { reply: kept.reply });
    assert.deepEqual(await world.accounts.rotateKey('k1', aKey('k3'), START, HOST, second), { reply: kept.reply });
    const other = { ...kept, once: onceKey({ fingerprint: 'f2' }) };
    const mismatch = { code: 'error.idempotency_mismatch' };
    await assert.rejects(world.accounts.addKey(aKey('k4'), undefined, HOST, other), mismatch);
    assert.deepEqual(
      (await world.accounts.listKeys(ACCOUNT, { limit: 9 })).items.map(({ id }) => id),
      ['k1'],
    );
    assert.equal((await find('k1'))?.expiresAt, undefined);
  });

  test('a rotation that is refused keeps no reply', async () => {
    await world.fund(0);
    const kept = { once: onceKey(), reply: { id: 'k2', key: null } };
    await assert.rejects(world.accounts.rotateKey('k1', aKey('k2'), START, HOST, kept), unknown);
    assert.equal(await world.outbox.replay(onceKey(), START), undefined);
  });

  test('a revoked key stays revoked, whatever happens to its end', async () => {
    await world.fund(0);
    await world.accounts.addKey(aKey('k1'));
    await world.accounts.addKey(aKey('k2'));
    assert.deepEqual(await world.accounts.revokeKey('k1', START + 1), aKey('k1'));
    assert.deepEqual(await world.accounts.revokeKey('k1', START + 9), aKey('k1', { revokedAt: START + 1 }));
    await assert.rejects(rotate('k1', 'k3', 1000), unknown);
    assert.equal((await find('k1'))?.revokedAt, START + 1);
    assert.equal(await find('k3'), undefined);
    assert.deepEqual(await find('k2'), aKey('k2'));
  });

  test('a key that is unknown, ended, or of another account can be neither replaced nor revoked', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    await world.accounts.addKey(aKey('k1'));
    await world.accounts.addKey(aKey('over', { expiresAt: START }));
    await assert.rejects(rotate('K1', 'k3', 1), unknown);
    await assert.rejects(rotate('over', 'k3', 1), unknown);
    await assert.rejects(world.accounts.rotateKey('k1', aKey('k3', { accountId: 'acc2' }), START), unknown);
    assert.equal(await find('k3'), undefined);
    assert.equal(await world.accounts.revokeKey('k2', START), undefined);
    assert.deepEqual(await find('k1'), aKey('k1'));
  });
}

function pending(name: string, over: Partial<Signature> = {}): Signature {
  const open = { status: 'pending', reason: undefined, decidedAt: undefined } as const;
  return { accountId: ACCOUNT, name, ...open, createdAt: START, ...over };
}

export function signatureTests({ test }: TestRunner, world: StorageFixture): void {
  const list = async (accountId = ACCOUNT) => (await world.accounts.listSignatures(accountId, { limit: 100 })).items;

  test('a name is registered as pending', async () => {
    await world.fund(0);
    assert.deepEqual(await world.accounts.registerSignature(pending('BANQUE')), pending('BANQUE'));
    assert.deepEqual(await list(), [pending('BANQUE')]);
    assert.deepEqual(await list('acc2'), []);
  });

  test('a name that is already registered stays unchanged and is returned', async () => {
    await world.fund(0);
    await world.accounts.registerSignature(pending('BANQUE'));
    const decided = await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'verified', undefined, START + SECOND_MS);
    const again = await world.accounts.registerSignature(pending('BANQUE', { createdAt: START + 9 * SECOND_MS }));
    const verified = pending('BANQUE', { status: 'verified', decidedAt: START + SECOND_MS });
    assert.deepEqual(decided, { signature: verified, isNew: true });
    assert.deepEqual(again, verified);
    assert.deepEqual(await list(), [verified]);
  });

  test('a name is rejected with a reason, and verified later without it', async () => {
    await world.fund(0);
    await world.accounts.registerSignature(pending('BANQUE'));
    const reason = 'Marque d\'un "tiers" \\ 😀';
    const rejected = await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'rejected', reason, START + 1);
    const signature = pending('BANQUE', { status: 'rejected', reason, decidedAt: START + 1 });
    assert.deepEqual(rejected, { signature, isNew: true });
    assert.deepEqual(await list(), [signature]);
    await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'verified', undefined, START + 2);
    assert.deepEqual(await list(), [pending('BANQUE', { status: 'verified', decidedAt: START + 2 })]);
  });

  test('repeating a decision changes nothing, and another reason does', async () => {
    await world.fund(0);
    await world.accounts.registerSignature(pending('BANQUE'));
    const decide = (status: 'verified' | 'rejected', reason: string | undefined, at: number) =>
      world.accounts.decideSignature(ACCOUNT, 'BANQUE', status, reason, at);
    for (const [status, reason] of [
      ['verified', undefined],
      ['rejected', 'a brand'],
      ['rejected', 'another brand'],
      ['rejected', undefined],
    ] as const) {
      const first = await decide(status, reason, START + 1);
      assert.equal(first?.isNew, true);
      const again = await decide(status, reason, START + SECOND_MS);
      assert.deepEqual(again, { signature: first?.signature, isNew: false });
      assert.deepEqual(await list(), [first?.signature]);
    }
  });

  test('a name that was never registered is not decided', async () => {
    await world.fund(0);
    await world.accounts.registerSignature(pending('BANQUE'));
    assert.equal(await world.accounts.decideSignature(ACCOUNT, 'BANK', 'verified', undefined, START), undefined);
    assert.equal(await world.accounts.decideSignature('acc2', 'BANQUE', 'verified', undefined, START), undefined);
    assert.deepEqual(await list(), [pending('BANQUE')]);
  });

  test('a name belongs to its account: another account’s name of the same spelling has its own decision', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    await world.accounts.registerSignature(pending('BANQUE'));
    await world.accounts.registerSignature(pending('BANQUE', { accountId: 'acc2' }));
    await world.accounts.decideSignature('acc2', 'BANQUE', 'verified', undefined, START);
    assert.deepEqual(await list(), [pending('BANQUE')]);
    assert.equal((await list('acc2'))[0]?.status, 'verified');
  });

  test('the accounts that may use a name are those for which it is verified', async () => {
    for (const id of [ACCOUNT, 'acc2', 'acc3']) {
      await world.fund(0, id);
      await world.accounts.registerSignature(pending('BANQUE', { accountId: id }));
    }
    assert.deepEqual(await world.accounts.accountsWith('BANQUE'), []);
    for (const id of [ACCOUNT, 'acc3']) {
      await world.accounts.decideSignature(id, 'BANQUE', 'verified', undefined, START + 1);
    }
    await world.accounts.decideSignature('acc2', 'BANQUE', 'rejected', 'no', START + 1);
    assert.deepEqual([...(await world.accounts.accountsWith('BANQUE'))].sort(), [ACCOUNT, 'acc3']);
    assert.deepEqual(await world.accounts.accountsWith('banque'), []);
    await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'rejected', 'no', START + 2);
    assert.deepEqual(await world.accounts.accountsWith('BANQUE'), ['acc3']);
  });

  test('names are listed page by page in the order of their characters, each once, and none of another account', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    const names = ['b', 'A b', 'B', 'A', '9', 'a'];
    for (const [index, name] of names.entries()) {
      await world.accounts.registerSignature(pending(name, { createdAt: START + index }));
    }
    await world.accounts.registerSignature(pending('AA', { accountId: 'acc2' }));
    const listed = async (page: PageRequest) => {
      const { items, next } = await world.accounts.listSignatures(ACCOUNT, page);
      return { items: items.map(({ name }) => ({ id: name })), next };
    };
    assert.deepEqual(await pages(listed, 2), [
      ['9', 'A'],
      ['A b', 'B'],
      ['a', 'b'],
    ]);
    for (const after of ['AA', 'nobody']) {
      await assert.rejects(listed({ limit: 2, after }), { code: 'error.invalid_cursor' });
    }
  });

  test('the names that an account may use are its verified ones', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    for (const name of ['BANQUE', 'SHOP', 'NEWS', 'PUB']) await world.accounts.registerSignature(pending(name));
    await world.accounts.registerSignature(pending('BANQUE', { accountId: 'acc2' }));
    assert.deepEqual(await world.accounts.verifiedSignatures(ACCOUNT), []);
    for (const name of ['BANQUE', 'PUB', 'SHOP']) {
      await world.accounts.decideSignature(ACCOUNT, name, 'verified', undefined, START + 1);
    }
    await world.accounts.decideSignature(ACCOUNT, 'PUB', 'rejected', 'no', START + 2);
    assert.deepEqual([...(await world.accounts.verifiedSignatures(ACCOUNT))].sort(), ['BANQUE', 'SHOP']);
    assert.deepEqual(await world.accounts.verifiedSignatures('acc2'), []);
  });

  test('names are compared exactly: case and trailing spaces count', async () => {
    await world.fund(0);
    const names = ['BANQUE', 'Banque', 'BANQUE '];
    for (const name of names) await world.accounts.registerSignature(pending(name));
    await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'verified', undefined, START + 1);
    const verified = (await list()).filter(({ status }) => status === 'verified');
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      names.sort(),
    );
    assert.deepEqual(
      verified.map(({ name }) => name),
      ['BANQUE'],
    );
  });
}
