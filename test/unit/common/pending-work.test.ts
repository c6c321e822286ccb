import { expect, test } from '@jest/globals';
import { PendingWork } from '../../../src/common/concurrency/pending-work.js';
import { promotedBytes } from '../../support/common/heap.js';

test('the wait ends when the last work has ended, even if it failed', async () => {
  const pending = new PendingWork();
  await pending.end();
  const ends: (() => void)[] = [];
  const open = new Promise<void>((resolve) => ends.push(resolve));
  const failing = new Promise<void>((_, reject) => ends.push(() => reject(new Error('failed'))));
  const works = [pending.add(open.then(() => 'done')), pending.add(failing)];
  let ended = 0;
  const drained = [pending.end(), pending.end()].map((end) => end.then(() => ended++));
  ends[0]?.();
  expect(await works[0]).toBe('done');
  await new Promise(setImmediate);
  expect(ended).toBe(0);
  ends[1]?.();
  await expect(works[1]).rejects.toThrow('failed');
  await Promise.all(drained);
  expect(ended).toBe(2);
  await pending.end();
});

test('the results of finished work are freed without a full garbage collection', async () => {
  const pending = new PendingWork();
  const open: (() => void)[] = [];
  const turn = () => {
    const work = new Promise<readonly number[]>((resolve) => open.push(() => resolve(new Array(100).fill(0.5))));
    void pending.add(work);
    if (open.length > 8) open.shift()?.();
  };
  // All results together take 16 MB.
  expect(await promotedBytes(turn)).toBeLessThan(6_000_000);
});
