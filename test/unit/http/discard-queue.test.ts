import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { DiscardQueue } from '../../../src/http/edge/discard-queue.js';

const CHUNK = 65_536;

/** An upload whose bytes are all available at once. */
function upload(chunks: number): Readable {
  return Readable.from(
    Array.from({ length: chunks }, () => Buffer.alloc(CHUNK)),
    { objectMode: false, highWaterMark: CHUNK },
  );
}

/** Counts the bytes that each turn of the event loop discards, until there are `total`. */
async function bytesByTurn(uploads: readonly Readable[], total: number): Promise<number[]> {
  const queue = new DiscardQueue();
  const turns: number[] = [];
  let discarded = 0;
  for (const each of uploads) queue.discard(each, (bytes) => (discarded += bytes));
  for (let before = 0; before < total; before = discarded) {
    await turn();
    turns.push(discarded - before);
  }
  return turns;
}

test('discards at most four reads per turn of the event loop, however many uploads there are', async () => {
  const uploads = Array.from({ length: 200 }, () => upload(16));
  const turns = await bytesByTurn(uploads, 200 * 16 * CHUNK);
  expect(Math.max(...turns)).toBeLessThanOrEqual(4 * CHUNK);
});

test('is not delayed by uploads that send nothing', async () => {
  const silent = Array.from({ length: 200 }, () => new Readable({ read: () => {} }));
  const turns = await bytesByTurn([...silent, upload(4)], 4 * CHUNK);
  expect(turns.length).toBeLessThan(200);
});

test('counts bytes rather than chunks, so an upload of small chunks gets as far in a turn', async () => {
  const small = Readable.from(
    Array.from({ length: 16_384 }, () => Buffer.alloc(4)),
    { objectMode: false },
  );
  const seen: number[] = [];
  new DiscardQueue().discard(small, (bytes) => seen.push(bytes));
  await turn();
  expect(seen.length).toBeGreaterThan(1);
});

test('discards nothing after it was stopped, even in the middle of a turn', async () => {
  const queue = new DiscardQueue();
  const one = upload(8);
  let discarded = 0;
  const stop = queue.discard(one, (bytes) => {
    discarded += bytes;
    if (discarded === 2 * CHUNK) stop();
  });
  for (let turns = 0; turns < 20; turns++) await turn();
  expect(discarded).toBe(2 * CHUNK);
  expect(one.isPaused()).toBe(true);
});
