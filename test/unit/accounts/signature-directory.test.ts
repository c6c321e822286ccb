import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { CountingAccountStore } from './counting-account-store.js';
import { instance, settle } from './instance.js';

let clock: FakeClock;
let store: CountingAccountStore;
let here: ReturnType<typeof instance>;
let there: ReturnType<typeof instance>;

beforeEach(async () => {
  clock = new FakeClock();
  store = await CountingAccountStore.open();
  here = instance(clock, store);
  there = instance(clock, store);
  await here.accounts.createAccount({ id: 'a', name: 'A' });
  await here.accounts.createAccount({ id: 'b', name: 'B' });
  await here.names.register('a', 'ACME');
});

describe('SignatureDirectory', () => {
  test('knows the default signatures of all accounts without a look-up', () => {
    for (const name of ['INFOS', 'ALERTE', 'SERVICE']) expect(here.signatures.isUsable('nobody', name)).toBe(true);
    expect(store.signatureLookups).toBe(0);
  });

  test('a registered name can be used once it is verified, by its account only, and only in the exact spelling', async () => {
    expect(await here.signatures.isUsable('a', 'ACME')).toBe(false);
    await here.names.verify('a', 'ACME');
    expect(await here.signatures.isUsable('a', 'ACME')).toBe(true);
    expect(here.signatures.isUsable('a', 'ACME')).toBe(true);
    expect(await here.signatures.isUsable('b', 'ACME')).toBe(false);
    for (const name of ['acme', 'ACME ', '', 'infos', '__proto__', 'A'.repeat(10_000)]) {
      expect(here.signatures.isUsable('a', name)).toBe(false);
    }
    await here.names.reject('a', 'ACME', 'not theirs');
    expect(await here.signatures.isUsable('a', 'ACME')).toBe(false);
  });

  test('a decision takes effect on another instance within five seconds', async () => {
    await here.names.verify('a', 'ACME');
    expect(await there.signatures.isUsable('a', 'ACME')).toBe(true);
    await here.names.reject('a', 'ACME');
    clock.advance(4_999);
    expect(await there.signatures.isUsable('a', 'ACME')).toBe(false);
  });

  test('invented names cause no look-up, and steady use causes one every two seconds', async () => {
    await here.signatures.isUsable('a', 'X0');
    store.signatureLookups = 0;
    for (let ms = 0; ms < 60_000; ms += 100) {
      clock.advance(100);
      expect(here.signatures.isUsable('a', `X${ms}`)).toBe(false);
      await settle();
    }
    expect(store.signatureLookups).toBe(30);
  });
});
