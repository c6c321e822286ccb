import { expect, test } from '@jest/globals';
import { sendOverCuts } from '../../support/client/cut-sends.js';

test('1 000 sends are charged 1 000 times if one connection in five is cut after the request was read', async () => {
  const { cuts, ...sends } = await sendOverCuts(1_000);
  expect(sends).toEqual({ answered: 1_000, stored: 1_000, charged: 1_000, faults: [] });
  expect(cuts).toBeGreaterThan(200);
});

test('a new key for each attempt would charge more', async () => {
  const { answered, charged } = await sendOverCuts(100, { keyPerAttempt: true });
  expect(answered).toBe(100);
  expect(charged).toBeGreaterThan(110);
});
