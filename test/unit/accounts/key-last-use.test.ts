import { expect, test } from '@jest/globals';
import type { AccountStore } from '../../../src/accounts/account-store.js';
import { KeyLastUse } from '../../../src/accounts/keys/key-last-use.js';
import { MINUTE_MS } from '../../../src/common/time.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settle } from './instance.js';

function start() {
  const clock = new FakeClock();
  const written: (readonly [string, number])[][] = [];
  let underWay = 0;
  let most = 0;
  const useKeys: AccountStore['useKeys'] = async (lastUse) => {
    most = Math.max(most, ++underWay);
    written.push([...lastUse]);
    await settle();
    underWay--;
  };
  return { clock, written, most: () => most, lastUse: new KeyLastUse(clock, { useKeys } as AccountStore) };
}

test('10 000 keys in use cause ten writes a minute, one after the other', async () => {
  const { clock, written, most, lastUse } = start();
  for (let second = 0; second < 60; second++) {
    for (let key = 0; key < 10_000; key++) lastUse.note(`k${key}`);
    clock.advance(1000);
  }
  for (let turn = 0; turn < 20; turn++) await settle();
  expect([written.length, most(), written.map((each) => each.length)]).toEqual([10, 1, Array(10).fill(1000)]);
  expect(new Set(written.flat().map(([id]) => id)).size).toBe(10_000);
});

test('unused keys are not written, and the later minute is kept', async () => {
  const { clock, written, lastUse } = start();
  clock.advance(5 * MINUTE_MS);
  expect(written).toEqual([]);
  clock.advance(40_000);
  lastUse.note('a');
  clock.advance(30_000);
  lastUse.note('a');
  lastUse.note('b');
  clock.advance(MINUTE_MS);
  await settle();
  const at = Date.UTC(2026, 10, 21, 10, 6);
  expect(written).toEqual([
    [
      ['a', at],
      ['b', at],
    ],
  ]);
  clock.advance(10 * MINUTE_MS);
  await settle();
  expect(written).toHaveLength(1);
});
