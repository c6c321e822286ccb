import assert from 'node:assert/strict';
import { MessagingError } from '../../../../../src/common/errors.js';
import { MINUTE_MS, SECOND_MS } from '../../../../../src/common/time.js';
import type { SessionLimits } from '../../../../../src/msgapp/sessions/session-limits.js';
import type { TestRunner } from '../../../test-runner.js';
import { ACCOUNT, aSession, range, START, sessionId } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';

/** At most three waiting sessions, for three minutes each, and five new sessions in an hour. */
const LIMITS: SessionLimits = { waiting: 3, waitMs: 3 * MINUTE_MS, made: 5, windowMs: 60 * MINUTE_MS };

export function sessionLimitTests({ test }: TestRunner, world: StorageFixture): void {
  const ask = (index: number, at: number, over: object = {}, limits = LIMITS) =>
    world.sessions.create(aSession(index, { createdAt: START + at, ...over }), limits);
  /** Asserts that a session is refused, and the seconds of its `retryAfter`. */
  const refused = async (index: number, at: number, seconds: number) => {
    await assert.rejects(ask(index, at), (error) => {
      assert.ok(error instanceof MessagingError);
      assert.deepEqual([error.code, error.retryAfter], ['error.msgapp_too_many_sessions', seconds]);
      return true;
    });
    assert.equal(await world.sessions.find(sessionId(index)), undefined);
    assert.deepEqual(await world.sessions.transitions(sessionId(index)), []);
  };

  test('a limited number may wait for a scan at a time, and one more if one of them is linked, ended or timed out', async () => {
    const [first, second] = [await ask(1, 0), await ask(2, 10 * SECOND_MS)];
    assert.deepEqual(first, { sessionId: sessionId(1), epoch: 1 });
    await ask(3, 20 * SECOND_MS);
    await refused(4, 30 * SECOND_MS, 150);
    await world.move(first, 'connected');
    await ask(4, 30 * SECOND_MS);
    await refused(5, 40 * SECOND_MS, 150);
    await world.move(second, 'expired');
    await ask(5, 40 * SECOND_MS);
  });

  test('a session that nobody ended counts until its time for the scan is over', async () => {
    for (const index of [1, 2, 3]) await ask(index, index * SECOND_MS);
    await refused(4, 3 * MINUTE_MS, 1);
    await ask(4, 3 * MINUTE_MS + SECOND_MS);
  });

  test('a limited number can be created in a window, whatever happened to them', async () => {
    for (const index of range(5)) await world.move(await ask(index, index * MINUTE_MS), 'expired');
    await refused(5, 5 * MINUTE_MS, 55 * 60);
    await refused(5, 60 * MINUTE_MS - 1, 1);
    await ask(5, 60 * MINUTE_MS);
    await refused(6, 60 * MINUTE_MS, 60);
  });

  test('a clock that is ahead elsewhere makes nobody wait for longer than the window', async () => {
    for (const index of range(5)) await world.move(await ask(index, 600 * MINUTE_MS), 'expired');
    await refused(5, 0, 3600);
  });

  test('other accounts and other channels are counted separately, and without limits everything is allowed', async () => {
    for (const index of range(3)) await ask(index, 0);
    await refused(3, 0, 180);
    await ask(4, 0, { accountId: 'acc2' });
    await ask(5, 0, { channel: 'other' });
    for (const index of range(4)) await world.sessions.create(aSession(10 + index));
    assert.equal((await world.sessions.list(ACCOUNT, 'wa', 0)).length, 7);
  });

  test('the current limits apply', async () => {
    for (const index of range(3)) await ask(index, 0);
    await refused(3, 0, 180);
    await ask(3, 0, {}, { ...LIMITS, waiting: 4 });
  });
}
