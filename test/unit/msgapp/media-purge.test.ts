import { setImmediate as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { DAY_MS } from '../../../src/common/time.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { mediaPurge } from '../../../src/msgapp/msgapp-purges.js';
import { Purger } from '../../../src/outbox/purger.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

async function* one(): AsyncIterable<Uint8Array> {
  yield new Uint8Array(1);
}

test('files are deleted after a week, even more than a thousand of them, and younger ones are not', async () => {
  const media = (await SqliteMemory.open()).store(MediaStore);
  const clock = new FakeClock();
  const purge = new Purger(clock, new Rounds(clock));
  purge.add(mediaPurge(media));
  for (let index = 0; index < 1200; index++) await media.write(`old ${index}`, one(), clock.now());
  await media.write('young', one(), clock.now() + DAY_MS);
  const kept = async (id: string) => {
    for await (const chunk of media.read(id)) return chunk.length > 0;
    return false;
  };
  purge.onApplicationBootstrap();
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn++) await pause();
  };
  await pass(6 * DAY_MS);
  expect([await kept('old 0'), await kept('old 1199'), await kept('young')]).toEqual([true, true, true]);
  await pass(DAY_MS);
  await pass(600_000);
  await expect(kept('old 0')).rejects.toThrow('not stored');
  await expect(kept('old 1199')).rejects.toThrow('not stored');
  expect(await kept('young')).toBe(true);
  purge.onApplicationShutdown();
  await pass(2 * DAY_MS);
  expect(await kept('young')).toBe(true);
});
