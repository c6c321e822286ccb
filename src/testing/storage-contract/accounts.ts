import assert from 'node:assert/strict';
import { START } from './fixtures.js';
import { pages } from './pages.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

export function accountTests({ test }: TestRunner, world: World): void {
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

  test('creating an account again leaves its balance alone', async () => {
    await world.fund(7);
    assert.equal(await world.accounts.createAccount({ id: 'acc1', name: 'Again', createdAt: START }), false);
    await world.holds(7);
  });

  test('an unknown account is not found', async () => {
    await world.fund(1);
    assert.equal(await world.accounts.findAccount('acc2'), undefined);
    assert.equal(await world.ledger.balance('acc2'), undefined);
  });

  test('names come back to the letter', async () => {
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
