import { expect, test } from '@jest/globals';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

test('the age of a round counts from its last success, and before the first round from the start of the worker', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(clock);
  const report = rounds.start('deliver sms', { everyMs: 1000 });
  clock.advance(300);
  expect(rounds.all()).toEqual([
    { worker: 'deliver sms', everyMs: 1000, isUpkeep: false, lastRound: undefined, ageMs: 300 },
  ]);
  const ended = clock.now();
  report.ended();
  clock.advance(700);
  expect(rounds.all()).toMatchObject([{ lastRound: ended, ageMs: 700 }]);
});

test('no round is expected of a stopped worker, and an earlier worker cannot end a later one of the same name', () => {
  const clock = new FakeClock();
  const rounds = new Rounds(clock);
  const first = rounds.start('purge replies', { everyMs: 1000, isUpkeep: true });
  const second = rounds.start('purge replies', { everyMs: 2000, isUpkeep: true });
  first.stopped();
  expect(rounds.all()).toMatchObject([{ everyMs: 2000, isUpkeep: true }]);
  second.stopped();
  expect(rounds.all()).toEqual([]);
});
