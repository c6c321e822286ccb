import assert from 'node:assert/strict';
import { DAY_MS, SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, aSession, messageId, phone, recipients, START, sessionId } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { aKey } from './accounts.js';

const CHANNELS = ['sms', 'wa'];

export function overviewTests({ test }: TestRunner, world: StorageFixture): void {
  const statuses = (over: object = {}) => {
    const day = { since: START - DAY_MS, until: START + DAY_MS };
    return world.overview.statuses({ accountId: ACCOUNT, channels: CHANNELS, ...day, most: 100, ...over });
  };
  const attention = (now = START + 60 * SECOND_MS) => world.overview.attention(ACCOUNT, CHANNELS, now);

  test('an account is shown as it was created, with its balance and threshold', async () => {
    assert.equal(await world.overview.standing(ACCOUNT), undefined);
    await world.fund(7);
    const standing = { name: `Account ${ACCOUNT}`, state: 'active', balance: 7, lowBelow: undefined };
    assert.deepEqual(await world.overview.standing(ACCOUNT), standing);
    await world.accounts.setLowBalance(ACCOUNT, 10);
    assert.deepEqual(await world.overview.standing(ACCOUNT), { ...standing, lowBelow: 10 });
  });

  test('recipients are counted by state within a range, and only the newest if there are many', async () => {
    await world.fund(100);
    await world.accept(aSend(1, { recipients: recipients(3) }), aSend(2, { at: START + SECOND_MS }));
    await world.accept(aSend(3, { payload: { kind: 'otp' } }), aSend(4, { at: START - 2 * DAY_MS }));
    await world.settle(messageId(2), 'delivered');
    const all = { counts: { queued: 4, delivered: 1 }, isComplete: true };
    assert.deepEqual(await statuses(), all);
    assert.deepEqual(await statuses({ since: START + 1 }), { counts: { delivered: 1 }, isComplete: true });
    assert.deepEqual(await statuses({ channels: ['wa'] }), { counts: {}, isComplete: true });
    assert.deepEqual(await statuses({ accountId: 'acc2' }), { counts: {}, isComplete: true });
    const { counts, isComplete } = await statuses({ most: 2 });
    assert.equal(isComplete, false);
    assert.ok(Object.values(counts).reduce((sum, count) => sum + count, 0) <= 4);
  });

  test('the longest waiting delivery is found on channels and linked numbers, until it is sent', async () => {
    const oldest = (now = START + 9 * SECOND_MS) => world.overview.oldestWaiting(ACCOUNT, CHANNELS, now);
    await world.fund(100);
    await world.fund(10, 'acc2');
    await world.sessions.create(aSession(1));
    assert.equal(await oldest(), undefined);
    await world.accept(aSend(1, { at: START + SECOND_MS }), aSend(2, { at: START, accountId: 'acc2' }));
    await world.accept(aSend(3, { at: START + 2 * SECOND_MS, priority: 'bulk' }));
    assert.equal(await oldest(), START + SECOND_MS);
    await world.accept(aSend(4, { channel: 'wa', lane: sessionId(1), sender: phone(9), at: START + 1 }));
    assert.equal(await oldest(), START + 1);
    for (const index of [1, 3, 4]) await world.settle(messageId(index), 'delivered');
    assert.equal(await oldest(), undefined);
    // A scheduled message waits from its time on.
    const sendAt = START + 60 * SECOND_MS;
    await world.accept(aSend(5, { schedule: { sendAt } }));
    assert.equal(await oldest(sendAt - 1), undefined);
    assert.equal(await oldest(sendAt), sendAt);
  });

  test('the overview shows what needs attention, and nothing that is old, intended or mended', async () => {
    await world.fund(0);
    assert.deepEqual(await attention(), []);
    for (const [index, name] of ['NEW', 'OLD', 'GOOD'].entries()) {
      const pending = { accountId: ACCOUNT, name, status: 'pending', createdAt: START } as const;
      await world.accounts.registerSignature({ ...pending, reason: undefined, decidedAt: undefined });
      const at = name === 'OLD' ? START - 40 * DAY_MS : START + index;
      await world.accounts.decideSignature(ACCOUNT, name, name === 'GOOD' ? 'verified' : 'rejected', undefined, at);
    }
    for (const [index, days] of [1, 30, -1].entries()) {
      await world.accounts.addKey(aKey(`key${index}`, { expiresAt: START + days * DAY_MS }));
    }
    const lost = async (index: number, to: 'banned' | 'logged_out', reason: string, number: number) => {
      const lease = await world.sessions.create(aSession(index));
      await world.move(lease, 'connected', { number: phone(number) });
      await world.move(lease, to, { reason });
    };
    await lost(1, 'banned', 'the app says so', 1);
    await lost(2, 'logged_out', 'logout', 2);
    await lost(3, 'banned', 'the app says so', 3);
    await world.move(await world.sessions.create(aSession(4)), 'connected', { number: phone(3) });
    const facts = (await attention()).map(({ kind, target }) => `${kind} ${target}`);
    assert.deepEqual(facts, ['signature_rejected NEW', `number_lost ${phone(1)}`, 'key_expiring key0']);
    assert.deepEqual(await attention(START + 100 * DAY_MS), []);
  });
}
