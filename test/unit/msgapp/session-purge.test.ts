import { setImmediate as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { DAY_MS } from '../../../src/common/time.js';
import { sessionPurge } from '../../../src/msgapp/msgapp-purges.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { Purger } from '../../../src/outbox/purger.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSession } from '../../contract/storage/fixtures.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

test('sessions are deleted 90 days after their end, even more than a hundred of them, and no others', async () => {
  const sessions = (await SqliteMemory.open()).store(SessionStore);
  const clock = new FakeClock();
  const purge = new Purger(clock, new Rounds(clock));
  purge.add(sessionPurge(sessions));
  const end = async (index: number, at: number) =>
    sessions.move(await sessions.create(aSession(index)), { to: 'expired', reason: 'not_scanned', at });
  for (let index = 0; index < 250; index++) await end(index, clock.now());
  await end(250, clock.now() + DAY_MS);
  await sessions.create(aSession(251));
  const kept = async () => (await sessions.list(ACCOUNT, 'wa', 999)).length;
  purge.onApplicationBootstrap();
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (let turn = 0; turn < 20; turn++) await pause();
  };
  await pass(90 * DAY_MS);
  expect(await kept()).toBe(252);
  await pass(600_000);
  expect(await kept()).toBe(2);
  await pass(DAY_MS);
  await pass(600_000);
  expect((await sessions.list(ACCOUNT, 'wa', 999)).map(({ status }) => status)).toEqual(['created']);
  purge.onApplicationShutdown();
});
