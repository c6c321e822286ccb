import { beforeEach, expect, test } from '@jest/globals';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { ConnectionMonitor } from '../../../../src/transports/baileys/connection-monitor.js';

let clock: FakeClock;
let overdue: string[];
let watch: ConnectionMonitor;

beforeEach(() => {
  clock = new FakeClock();
  overdue = [];
  watch = new ConnectionMonitor(clock, { answerMs: 1000, silenceMs: 400 }, (reason) => overdue.push(reason));
});

test('the deadline of an answer starts when the answer is expected', () => {
  watch.expectAnswer();
  clock.advance(999);
  expect(overdue).toEqual([]);
  watch.expectAnswer();
  clock.advance(999);
  expect(overdue).toEqual([]);
  clock.advance(1);
  expect(overdue).toEqual(['no_answer']);
});

test('an answer in time is enough', () => {
  watch.expectAnswer();
  watch.answered();
  clock.advance(10_000);
  expect(overdue).toEqual([]);
});

test('silence counts from the last frame, and only if there was a frame', () => {
  clock.advance(10_000);
  for (let frame = 0; frame < 20; frame++) {
    watch.heard();
    clock.advance(399);
  }
  expect(overdue).toEqual([]);
  clock.advance(1);
  expect(overdue).toEqual(['silent']);
});

test('a stopped monitor reports nothing', () => {
  watch.expectAnswer();
  watch.heard();
  watch.stop();
  clock.advance(10_000);
  expect(overdue).toEqual([]);
});
