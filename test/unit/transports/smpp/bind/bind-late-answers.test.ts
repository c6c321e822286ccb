import { expect, test } from '@jest/globals';
import { LateAnswers } from '../../../../../src/transports/smpp/bind/send-window.js';

const ANSWER = { status: 0, messageId: 'x', tlvs: [] };

test('only the last few late answers are waited for', async () => {
  const late = new LateAnswers(2);
  const promises = [1, 2, 3].map((sequence) => late.expect(sequence));
  expect(await promises[0]).toBeUndefined();
  expect([1, 2, 3].map((sequence) => late.has(sequence))).toEqual([false, true, true]);
  expect(late.settle(1, ANSWER)).toBe(false);
  expect(late.settle(3, ANSWER)).toBe(true);
  expect(await promises[2]).toBe(ANSWER);
  late.end();
  expect(await promises[1]).toBeUndefined();
});
