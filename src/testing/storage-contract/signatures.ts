import assert from 'node:assert/strict';
import type { Signature } from '../../accounts/account-store.js';
import { ACCOUNT, SECOND, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

function pending(name: string, over: Partial<Signature> = {}): Signature {
  const open = { status: 'pending', reason: undefined, decidedAt: undefined } as const;
  return { accountId: ACCOUNT, name, ...open, createdAt: START, ...over };
}

export function signatureTests({ test }: TestRunner, world: World): void {
  const list = async (accountId = ACCOUNT) =>
    [...(await world.accounts.listSignatures(accountId))].sort((a, b) => (a.name < b.name ? -1 : 1));

  test('a name is registered as pending', async () => {
    await world.fund(0);
    assert.deepEqual(await world.accounts.registerSignature(pending('BANQUE')), pending('BANQUE'));
    assert.deepEqual(await list(), [pending('BANQUE')]);
    assert.deepEqual(await list('acc2'), []);
  });

  test('a name that is registered already stays as it is and is answered', async () => {
    await world.fund(0);
    await world.accounts.registerSignature(pending('BANQUE'));
    const decided = await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'verified', undefined, START + SECOND);
    const again = await world.accounts.registerSignature(pending('BANQUE', { createdAt: START + 9 * SECOND }));
    assert.deepEqual(decided, pending('BANQUE', { status: 'verified', decidedAt: START + SECOND }));
    assert.deepEqual(again, decided);
    assert.deepEqual(await list(), [decided]);
  });

  test('a name is rejected with a reason, and verified later without it', async () => {
    await world.fund(0);
    await world.accounts.registerSignature(pending('BANQUE'));
    const reason = 'Marque d\'un "tiers" \\ 😀';
    const rejected = await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'rejected', reason, START + 1);
    assert.deepEqual(rejected, pending('BANQUE', { status: 'rejected', reason, decidedAt: START + 1 }));
    assert.deepEqual(await list(), [rejected]);
    await world.accounts.decideSignature(ACCOUNT, 'BANQUE', 'verified', undefined, START + 2);
    assert.deepEqual(await list(), [pending('BANQUE', { status: 'verified', decidedAt: START + 2 })]);
  });

  test('what was never registered is not decided', async () => {
    await world.fund(0);
    await world.accounts.registerSignature(pending('BANQUE'));
    assert.equal(await world.accounts.decideSignature(ACCOUNT, 'BANK', 'verified', undefined, START), undefined);
    assert.equal(await world.accounts.decideSignature('acc2', 'BANQUE', 'verified', undefined, START), undefined);
    assert.deepEqual(await list(), [pending('BANQUE')]);
  });

  test('a name belongs to its account: another decides on its own', async () => {
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
