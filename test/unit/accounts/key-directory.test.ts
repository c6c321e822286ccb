import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { KeyDirectory } from '../../../src/accounts/keys/key-directory.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { SetBackClock } from '../../support/common/set-back-clock.js';
import { CountingAccountStore } from './counting-account-store.js';
import { instance, settle } from './instance.js';

let clock: SetBackClock;
let store: CountingAccountStore;
let here: ReturnType<typeof instance>;
let there: ReturnType<typeof instance>;
let issued: { key: string; id: string };

beforeEach(async () => {
  clock = new SetBackClock();
  store = await CountingAccountStore.open();
  here = instance(clock, store);
  there = instance(clock, store);
  await here.accounts.createAccount({ id: 'a', name: 'A' });
  issued = await here.accounts.issueKey('a');
  store.keyLookups = 0;
});

const kind = async ({ authenticator }: typeof here) =>
  (await authenticator.authenticate({ 'x-api-key': issued.key })).kind;
const isSync = ({ authenticator }: typeof here) =>
  !(authenticator.authenticate({ 'x-api-key': issued.key }) instanceof Promise);

describe('a revocation', () => {
  test('takes effect at once in the process that makes it', async () => {
    expect(await kind(here)).toBe('caller');
    await here.accounts.revokeKey(issued.id);
    expect(await kind(here)).toBe('refused');
  });

  test('takes effect within five seconds in other processes, however often the key is used', async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 4_999 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(gaps, fc.integer({ min: 0, max: 6_000 }), gaps, async (before, idle, after) => {
        const own = await here.accounts.issueKey('a');
        const ask = async () => (await there.authenticator.authenticate({ 'x-api-key': own.key })).kind;
        for (const gap of [0, ...before]) {
          clock.advance(gap);
          expect(await ask()).toBe('caller');
        }
        clock.advance(idle);
        await here.accounts.revokeKey(own.id);
        const due = clock.now() + 5_000;
        for (const gap of after) {
          if (clock.now() + gap >= due) break;
          clock.advance(gap);
          await ask();
        }
        clock.advance(due - clock.now());
        expect(await ask()).toBe('refused');
      }),
      { numRuns: 300 },
    );
  });

  test('takes effect even if the read before it was slow, because the age of a read counts from its beginning', async () => {
    let answer = () => {};
    store.beforeAnswer = () => new Promise((resolve) => (answer = resolve));
    const slow = kind(there);
    await settle();
    store.beforeAnswer = async () => {};
    await here.accounts.revokeKey(issued.id);
    clock.advance(3_000);
    answer();
    expect(await slow).toBe('caller');
    clock.advance(1_999);
    expect(await kind(there)).toBe('refused');
  });

  test('is not undone by a read that began before it', async () => {
    let answer = () => {};
    store.beforeAnswer = () => new Promise((resolve) => (answer = resolve));
    const early = kind(here);
    await settle();
    store.beforeAnswer = async () => {};
    await here.accounts.revokeKey(issued.id);
    answer();
    await early;
    expect(await kind(here)).toBe('refused');
  });

  test('takes effect even if the read before it hangs', async () => {
    expect(await kind(there)).toBe('caller');
    clock.advance(2_500);
    const answers: (() => void)[] = [];
    store.beforeAnswer = () => new Promise((resolve) => answers.push(resolve));
    expect(await kind(there)).toBe('caller');
    await settle();
    expect(answers).toHaveLength(1);
    store.beforeAnswer = async () => {};
    await here.accounts.revokeKey(issued.id);
    clock.advance(5_000);
    expect(await kind(there)).toBe('refused');
    answers[0]?.();
    await settle();
    expect(await kind(there)).toBe('refused');
  });
});

describe('the hot path', () => {
  test('reads once every two seconds during 60 seconds of steady use', async () => {
    await kind(here);
    store.keyLookups = 0;
    for (let ms = 0; ms < 60_000; ms += 100) {
      clock.advance(100);
      for (let i = 0; i < 10; i++) expect(isSync(here)).toBe(true);
      await settle();
    }
    expect(store.keyLookups).toBe(30);
  });

  test('does the same for a key that does not exist', async () => {
    const { key } = await issueElsewhere();
    const ask = () => here.authenticator.authenticate({ 'x-api-key': key });
    await ask();
    store.keyLookups = 0;
    for (let ms = 0; ms < 60_000; ms += 100) {
      clock.advance(100);
      expect(ask()).toEqual({ kind: 'refused', code: 'error.unauthorized' });
      await settle();
    }
    expect(store.keyLookups).toBe(30);
  });

  test('shares one look-up among concurrent requests', async () => {
    expect(await Promise.all(Array.from({ length: 100 }, () => kind(here)))).toEqual(Array(100).fill('caller'));
    expect(store.keyLookups).toBe(1);
  });

  test('looks a key up again before trusting it if it was not used for four seconds', async () => {
    await kind(here);
    clock.advance(4_000);
    expect(isSync(here)).toBe(false);
  });

  test('a clock that is set back keeps nothing fresh for longer, and a clock that is set forward makes nothing old', async () => {
    await kind(here);
    for (const ms of [3_600_000, -3_600_000]) {
      clock.setBack(ms);
      expect(isSync(here)).toBe(true);
    }
    clock.setBack(3_600_000);
    clock.advance(4_000);
    expect(isSync(here)).toBe(false);
  });
});

describe('while storage fails', () => {
  const fail = async () => {
    throw new StorageUnavailableError('gone');
  };

  test('a known key works for four more seconds, then the request fails; afterwards the key works again', async () => {
    await kind(here);
    store.beforeAnswer = fail;
    store.keyLookups = 0;
    for (let ms = 0; ms < 3_900; ms += 100) {
      clock.advance(100);
      expect(isSync(here)).toBe(true);
      await settle();
    }
    // From 2 000 ms on, with half a second between the attempts.
    expect(store.keyLookups).toBe(4);
    clock.advance(100);
    await expect(kind(here)).rejects.toThrow(StorageUnavailableError);
    store.beforeAnswer = async () => {};
    expect(await kind(here)).toBe('caller');
    expect(isSync(here)).toBe(true);
  });

  test('an unknown key is answered with an error of the service, not with a refusal', async () => {
    store.beforeAnswer = fail;
    await expect(kind(here)).rejects.toThrow(StorageUnavailableError);
  });
});

describe('KeyDirectory', () => {
  test('an imported key works at once even if it was looked up before the import', async () => {
    const { key } = await issueElsewhere();
    const ask = async () => (await here.authenticator.authenticate({ 'x-api-key': key })).kind;
    expect(await ask()).toBe('refused');
    await here.accounts.importKey('a', key);
    expect(await ask()).toBe('caller');
  });

  test('invented keys do not displace real ones, and are not kept forever', async () => {
    const directory = new KeyDirectory(clock, store, new LocalNotifier());
    await directory.find(issued.id);
    for (let i = 0; i < 50_000; i++) await directory.find(`unknown${i}`);
    store.keyLookups = 0;
    expect(directory.find(issued.id)).toMatchObject({ accountId: 'a' });
    expect(directory.find('unknown0')).toBeInstanceOf(Promise);
    expect(store.keyLookups).toBe(1);
  });
});

async function issueElsewhere() {
  const { accounts } = instance(clock, await CountingAccountStore.open());
  await accounts.createAccount({ id: 'a', name: 'A' });
  return accounts.issueKey('a');
}
