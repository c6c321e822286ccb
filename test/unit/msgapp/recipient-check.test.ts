import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { HOUR_MS, MINUTE_MS } from '../../../src/common/time.js';
import { AddressStore } from '../../../src/msgapp/address-store.js';
import type { Link } from '../../../src/msgapp/msgapp-transport.js';
import { RecipientCheck } from '../../../src/msgapp/sending/recipient-check.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

const NUMBER = '5511987654321';
const ADDRESS = '551187654321@s.whatsapp.net';

let clock: FakeClock;
let storage: SqliteMemory;
let asked: string[];
const notifier = new LocalNotifier();

beforeEach(async () => {
  clock = new FakeClock();
  storage = await SqliteMemory.open();
  asked = [];
});
afterEach(() => storage.stop());

/** A separate process on the common storage. */
const process = (app = 'an app') =>
  new RecipientCheck({ clock, addresses: storage.store(AddressStore), notifier, app, timeoutMs: 5000 });

/** The connection of a session, on which the server gives this answer. */
function connection(answer: string | boolean | undefined, name = 'asked'): Link {
  const link: Pick<Link, 'exists'> = {
    exists: async () => {
      asked.push(name);
      return answer;
    },
  };
  // Nothing else of it is used here.
  return link as Link;
}

test.each([
  ['an address', ADDRESS, { address: ADDRESS }, 24 * HOUR_MS],
  ['that a number is there', true, { address: undefined }, 24 * HOUR_MS],
  ['that a number is not there', false, false, 10 * MINUTE_MS],
] as const)('%s is cached for a time, then requested again', async (_, answer, expected, ms) => {
  const check = process();
  const find = async () => {
    const found = await check.find('one', connection(answer), NUMBER);
    return found && { address: found.address };
  };
  expect([await find(), await find()]).toEqual([expected, expected]);
  clock.advance(ms - 1);
  expect(await find()).toEqual(expected);
  expect(asked).toHaveLength(1);
  clock.advance(1);
  expect(await find()).toEqual(expected);
  expect(asked).toHaveLength(2);
});

test.each([
  ['an address', ADDRESS],
  ['that a number is there', true],
  ['that a number is not there', false],
] as const)('%s is forgotten at once when addresses are erased', async (_, answer) => {
  const check = process();
  await check.find('one', connection(answer), NUMBER);
  await storage.store(AddressStore).erase(NUMBER);
  notifier.publish('address', '*');
  await check.find('one', connection(answer), NUMBER);
  expect(asked).toHaveLength(2);
});

describe('an address belongs to its number', () => {
  test('so another session, another process and a process after a restart have it', async () => {
    const first = process();
    await first.find('one', connection(ADDRESS), NUMBER);
    for (const check of [first, process()]) {
      expect(await check.find('two', connection(false), NUMBER)).toMatchObject({ address: ADDRESS });
    }
    expect(asked).toHaveLength(1);
  });

  test('and another app is asked for its own', async () => {
    await process().find('one', connection(ADDRESS), NUMBER);
    expect(await process('another app').find('one', connection('u-4711'), NUMBER)).toMatchObject({ address: 'u-4711' });
    expect(await process().find('one', connection(false), NUMBER)).toMatchObject({ address: ADDRESS });
  });

  test('and two processes that ask at the same time agree', async () => {
    const found = await Promise.all(
      ['one', 'two'].map((session) => process().find(session, connection(ADDRESS), NUMBER)),
    );
    expect(found).toMatchObject([{ address: ADDRESS }, { address: ADDRESS }]);
    expect(await process().find('three', connection(undefined), NUMBER)).toMatchObject({ address: ADDRESS });
  });

  test('and a wrong one is requested again', async () => {
    const check = process();
    const wrong = await check.find('one', connection('old@app'), NUMBER);
    await check.forget(NUMBER, wrong || { address: undefined });
    expect(await check.find('one', connection(ADDRESS), NUMBER)).toMatchObject({ address: ADDRESS });
    // Another process has used the wrong one too and finds out later.
    await check.forget(NUMBER, { address: 'old@app' });
    expect(await process().find('two', connection(undefined), NUMBER)).toMatchObject({ address: ADDRESS });
  });

  test('and an erased one is not used for long by a process that has read it before', async () => {
    const check = process();
    await check.find('one', connection(ADDRESS), NUMBER);
    await storage.store(AddressStore).erase(NUMBER);
    clock.advance(10 * MINUTE_MS);
    expect(await check.find('one', connection(false), NUMBER)).toBe(false);
  });

  test.each([-25 * HOUR_MS, 25 * HOUR_MS])('and one from %d ms away is not used', async (ms) => {
    const known = { address: 'old@app', learnedAt: clock.now() + ms };
    await storage.store(AddressStore).remember({ app: 'an app', number: NUMBER }, known);
    expect(await process().find('one', connection(ADDRESS), NUMBER)).toMatchObject({ address: ADDRESS });
  });
});

describe('that a number is not there', () => {
  test('is believed only of the session that said so, because that session may be restricted', async () => {
    const check = process();
    expect(await check.find('restricted', connection(false), NUMBER)).toBe(false);
    expect(await check.find('restricted', connection(ADDRESS), NUMBER)).toBe(false);
    expect(await check.find('free', connection(ADDRESS), NUMBER)).toMatchObject({ address: ADDRESS });
    // Now all of them know better.
    expect(await check.find('restricted', connection(false), NUMBER)).toMatchObject({ address: ADDRESS });
  });

  test('is no longer believed once the number writes', async () => {
    const check = process();
    expect(await check.find('one', connection(false), NUMBER)).toBe(false);
    check.heardFrom(NUMBER);
    expect(await check.find('one', connection(ADDRESS), NUMBER)).toMatchObject({ address: ADDRESS });
  });

  test('is not stored if nobody knows', async () => {
    const check = process();
    expect(await check.find('one', connection(undefined), NUMBER)).toBeUndefined();
    expect(await check.find('one', connection(ADDRESS), NUMBER)).toMatchObject({ address: ADDRESS });
  });
});
