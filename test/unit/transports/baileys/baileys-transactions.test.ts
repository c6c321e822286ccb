import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { SignalDataSet } from 'baileys';
import type { Baileys } from '../../../../src/transports/baileys/baileys-library.js';
import { quietLogger } from '../../../../src/transports/baileys/quiet-logger.js';
import { SharedContext } from '../../../../src/transports/baileys/shared-contexts.js';
import { settled } from '../../../support/common/settled.js';

let library: Baileys;

beforeAll(async () => {
  // Jest's modules do not see the class that replaces Node's own; test/e2e/transports/baileys-contexts.test.ts does that.
  jest.unstable_mockModule('async_hooks', () => ({ AsyncLocalStorage: SharedContext }));
  library = await import('baileys');
});

afterAll(() => {
  jest.resetModules();
});

/** The keys of one session, with Baileys' transactions. */
function session() {
  const written: SignalDataSet[] = [];
  const store = { get: async () => ({}), set: async (data: SignalDataSet) => void written.push(data) };
  const options = { maxCommitRetries: 1, delayBetweenTriesMs: 0 };
  return { written, keys: library.addTransactionCapability(store, quietLogger(), options) };
}

const key = (id: string) => ({ 'sender-key': { [id]: new Uint8Array([1]) } });

test('concurrent and nested transactions of two sessions each write to their own session', async () => {
  const [one, two] = [session(), session()];
  const nested = one.keys.transaction(async () => {
    await one.keys.set(key('one'));
    await two.keys.transaction(async () => {
      expect(await two.keys.get('sender-key', ['one'])).toEqual({});
      await two.keys.set(key('two'));
      await settled();
    }, 'two');
    // This transaction is committed while ours is still open.
    expect(one.written).toEqual([]);
    expect(two.written).toContainEqual(key('two'));
    await two.keys.set(key('direct'));
    expect(two.keys.isInTransaction()).toBe(false);
  }, 'one');
  const beside = two.keys.transaction(async () => {
    await settled();
    await two.keys.set(key('beside'));
  }, 'beside');
  await Promise.all([nested, beside]);
  expect(one.written).toEqual([key('one')]);
  expect(two.written).toHaveLength(3);
  expect(two.written).toEqual(expect.arrayContaining([key('two'), key('direct'), key('beside')]));
});
