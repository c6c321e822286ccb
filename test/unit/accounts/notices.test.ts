import { beforeEach, describe, expect, test } from '@jest/globals';
import { LocalNotifier, type NoticeTopic } from '../../../src/common/notifier.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { CountingAccountStore } from './counting-account-store.js';
import { instance } from './instance.js';

/** Two processes, as far as their caches are concerned: they share only the store and the notices. */
let notifier: LocalNotifier;
let store: CountingAccountStore;
let here: ReturnType<typeof instance>;
let there: ReturnType<typeof instance>;

/** The clock stands still, so nothing is read again because of its age. */
beforeEach(async () => {
  const clock = new FakeClock();
  notifier = new LocalNotifier();
  store = await CountingAccountStore.open();
  here = instance(clock, store, { notifier });
  there = instance(clock, store, { notifier });
  await here.accounts.createAccount({ id: 'a', name: 'A' });
});

const admits = async ({ authenticator }: typeof here, key: string) =>
  (await authenticator.authenticate({ 'x-api-key': key })).kind;

describe('another process that receives the notice', () => {
  test('refuses a revoked key at once', async () => {
    const { key, id } = await here.accounts.issueKey('a');
    expect(await admits(there, key)).toBe('caller');
    await here.accounts.revokeKey(id);
    expect(await admits(there, key)).toBe('refused');
  });

  test('refuses a key at once that was replaced without grace', async () => {
    const { key, id } = await here.accounts.issueKey('a');
    expect(await admits(there, key)).toBe('caller');
    const { key: next } = await here.accounts.rotateKey(id, { graceMs: 0 });
    expect([await admits(there, key), await admits(there, next)]).toEqual(['refused', 'caller']);
  });

  test('admits an imported key at once, even if it looked that key up before', async () => {
    const other = instance(new FakeClock(), await CountingAccountStore.open());
    await other.accounts.createAccount({ id: 'a', name: 'A' });
    const { key } = await other.accounts.issueKey('a');
    expect(await admits(there, key)).toBe('refused');
    await here.accounts.importKey('a', key);
    expect(await admits(there, key)).toBe('caller');
  });

  test('follows decisions about a signature at once', async () => {
    const usable = async () => there.signatures.isUsable('a', 'SHOP');
    await here.names.register('a', 'SHOP');
    expect(await usable()).toBe(false);
    await here.names.verify('a', 'SHOP');
    expect(await usable()).toBe(true);
    await here.names.reject('a', 'SHOP');
    expect(await usable()).toBe(false);
  });
});

test('a notice contains only the public id of a key or of an account', async () => {
  const notices: string[] = [];
  const topics: readonly NoticeTopic[] = ['due', 'key', 'signature', 'opt-out', 'sender'];
  for (const topic of topics) notifier.listen(topic, (id) => notices.push(`${topic} ${id}`));
  const { id } = await here.accounts.issueKey('a');
  await here.accounts.revokeKey(id);
  await here.names.register('a', 'SHOP');
  await here.names.verify('a', 'SHOP');
  expect(notices).toEqual([`key ${id}`, 'signature a']);
});

test('a revocation succeeds even if the host’s notifier throws', async () => {
  class Broken extends LocalNotifier {
    override publish(): never {
      throw new Error('Redis is away');
    }
  }
  const lonely = instance(new FakeClock(), store, { notifier: new Broken() });
  const { key, id } = await lonely.accounts.issueKey('a');
  expect(await admits(lonely, key)).toBe('caller');
  await lonely.accounts.revokeKey(id);
  expect(await admits(lonely, key)).toBe('refused');
});
