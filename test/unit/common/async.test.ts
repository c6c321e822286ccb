import { expect, test } from '@jest/globals';
import { pause, retryWhileUnavailable } from '../../../src/common/concurrency/async.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';

test.each([true, false])('a pause ends at its signal or at its time (aborted: %s)', async (aborts) => {
  const clock = new FakeClock();
  const abort = new AbortController();
  let ended = false;
  void pause(clock, 1000, abort.signal).then(() => (ended = true));
  clock.advance(999);
  await settled();
  expect(ended).toBe(false);
  if (aborts) abort.abort();
  else clock.advance(1);
  await settled();
  expect(ended).toBe(true);
});

/** The seconds at which work is attempted if the storage is unavailable this many times. */
function retrying(away: number, untilMs: number, fault: Error = new StorageUnavailableError('away')) {
  const clock = new FakeClock();
  const began = clock.elapsed();
  const abort = new AbortController();
  const tried: number[] = [];
  let heard = 0;
  const patience = { clock, until: began + untilMs, signal: abort.signal, onUnavailable: () => heard++ };
  const end = retryWhileUnavailable(patience, async () => {
    tried.push((clock.elapsed() - began) / 1000);
    if (tried.length <= away) throw fault;
    return 'done';
  }).catch((error: unknown) => error);
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await settled();
      clock.advance(1000);
    }
    await settled();
  };
  return { end, tried, pass, abort, heard: () => heard };
}

test('work is repeated once a second while the storage is unavailable', async () => {
  const { end, tried, pass, heard } = retrying(3, 60_000);
  await pass(10);
  expect([await end, tried, heard()]).toEqual(['done', [0, 1, 2, 3], 3]);
});

test('no attempt begins after the time limit', async () => {
  const { end, tried, pass } = retrying(99, 3000);
  await pass(10);
  expect(await end).toBeInstanceOf(StorageUnavailableError);
  expect(tried).toEqual([0, 1, 2]);
});

test('an aborted signal ends the attempts', async () => {
  const { end, tried, pass, abort } = retrying(99, 60_000);
  await pass(1);
  abort.abort();
  await pass(5);
  expect(await end).toBeInstanceOf(StorageUnavailableError);
  expect(tried).toEqual([0, 1, 1]);
});

test('work that fails with another error is not repeated', async () => {
  const { end, tried, heard } = retrying(99, 60_000, new TypeError('wrong'));
  expect([await end, tried, heard()]).toEqual([expect.any(TypeError), [0], 0]);
});
