import { expect, test } from '@jest/globals';
import { RecipientCheck } from '../../../src/msgapp/message-carrier.js';
import type { Link } from '../../../src/msgapp/msgapp-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

const HOUR = 3_600_000;

test.each([
  [true, 24 * HOUR],
  [false, HOUR / 6],
])('that a number is there: %s is believed for %d ms', async (answer, ms) => {
  const clock = new FakeClock();
  const check = new RecipientCheck(clock, 5000);
  const asked: string[] = [];
  const link: Pick<Link, 'exists'> = {
    exists: async (number) => {
      asked.push(number);
      return answer;
    },
  };
  const ask = (number: string) => check.isThere(link as Link, number);
  expect([await ask('1'), await ask('1'), await ask('2')]).toEqual([answer, answer, answer]);
  clock.advance(ms - 1);
  await ask('1');
  expect(asked).toEqual(['1', '2']);
  clock.advance(1);
  expect(await ask('1')).toBe(answer);
  expect(asked).toEqual(['1', '2', '1']);
});
