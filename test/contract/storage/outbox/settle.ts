import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { aMove, aSend, messageId, phone, range, recipients, START } from '../fixtures.js';
import { LEASE, places, type StorageFixture } from '../storage-fixture.js';

export function settleTests({ test }: TestRunner, world: StorageFixture): void {
  const id = messageId(1);

  /** Accepts one message and claims it a number of times. */
  async function sending(attempts = 1): Promise<void> {
    await world.fund(5);
    await world.accept(aSend(1, { recipients: recipients(1, 2) }));
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      await world.claim({ now: START + attempt * (LEASE + 1), abandoned: true });
    }
  }

  test('a delivery goes from sent to delivered to read, and every step is returned', async () => {
    await sending();
    for (const [index, status] of (['sent', 'delivered', 'read'] as const).entries()) {
      const at = START + index * SECOND_MS;
      const moved = await world.settle(id, status, { at, ...(index === 0 && { attempt: 1 }) });
      const completed = { recipients: 1, statuses: { delivered: 1 }, units: 2, refundedUnits: 0 };
      assert.deepEqual(moved, [aMove(1, { status, units: 2, at, ...(status === 'delivered' && { completed }) })]);
      assert.deepEqual(await world.outbox.recipients(id), [
        { number: phone(0), status, units: 2, refundedUnits: 0, error: undefined, updatedAt: at },
      ]);
    }
    await world.holds(3);
  });

  test('states only move forward', async () => {
    await sending();
    await world.settle(id, 'delivered', { attempt: 1 });
    for (const status of ['sent', 'unknown', 'delivered', 'undelivered', 'failed', 'queued'] as const) {
      assert.deepEqual(await world.settle(id, status, { at: START + 9 * SECOND_MS, error: 'late' }), []);
    }
    const [recipient] = await world.outbox.recipients(id);
    assert.equal(recipient?.status, 'delivered');
    assert.equal(recipient?.error, undefined);
    assert.equal(recipient?.updatedAt, START + SECOND_MS);
    await world.holds(3);
  });

  test('a report given twice takes effect once, in one call and in two', async () => {
    await sending();
    const report = { messageId: id, position: 0, status: 'undelivered', at: START, error: 'absent' } as const;
    assert.equal((await world.outbox.settle([report, report])).length, 1);
    assert.deepEqual(await world.outbox.settle([report]), []);
  });

  test('settlements of one call are applied in their order', async () => {
    await sending();
    const step = (status: 'sent' | 'delivered') => ({ messageId: id, position: 0, status, at: START + 1 });
    const moved = await world.outbox.settle([step('sent'), step('delivered'), step('sent')]);
    assert.deepEqual(
      moved.map(({ status }) => status),
      ['sent', 'delivered'],
    );
    await world.stand(id, ['delivered']);
  });

  test('an unknown delivery is skipped, and the rest is settled', async () => {
    await sending();
    const report = (message: string, position: number) =>
      ({ messageId: message, position, status: 'delivered', at: START }) as const;
    const moved = await world.outbox.settle([
      report('nothing', 0),
      report(id, 1),
      report(id, -1),
      report(id.toUpperCase(), 0),
      report(id, 0),
    ]);
    assert.deepEqual(places(moved), [`${id}/0`]);
  });

  test('a report on one attempt settles a delivery that became unknown with that attempt, and refunds it once', async () => {
    await sending();
    assert.deepEqual(await world.settle(id, 'failed', { reportedAttempt: 1 }), []);
    await world.settle(id, 'unknown');
    for (const reportedAttempt of [0, 2]) assert.deepEqual(await world.settle(id, 'failed', { reportedAttempt }), []);
    await world.stand(id, ['unknown']);
    const [moved] = await world.settle(id, 'failed', { reportedAttempt: 1 });
    assert.deepEqual([moved?.status, moved?.refund], ['failed', 2]);
    assert.deepEqual(await world.settle(id, 'failed', { reportedAttempt: 1 }), []);
    await world.holds(5);
  });

  test('it settles nothing if an earlier attempt may have been accepted', async () => {
    await sending();
    await world.settle(id, 'queued', { attempt: 1, doubtful: true, dueAt: START });
    await world.claim({ now: START + LEASE });
    await world.settle(id, 'unknown');
    for (const reportedAttempt of [1, 2]) assert.deepEqual(await world.settle(id, 'failed', { reportedAttempt }), []);
    await world.stand(id, ['unknown']);
    await world.holds(3);
  });

  test('an attempt that lost its lease no longer decides on retry, failure or doubt', async () => {
    await sending(2);
    for (const status of ['queued', 'failed', 'unknown'] as const) {
      assert.deepEqual(await world.settle(id, status, { attempt: 1, dueAt: START }), []);
    }
    await world.stand(id, ['sending']);
    await world.holds(3);
  });

  test('a delivery sent by an attempt without a lease still counts as sent', async () => {
    await sending(2);
    assert.equal((await world.settle(id, 'sent', { attempt: 1 })).length, 1);
    assert.deepEqual(await world.settle(id, 'queued', { attempt: 2, dueAt: START }), []);
    assert.deepEqual(await world.settle(id, 'failed', { attempt: 2 }), []);
    await world.stand(id, ['sent']);
    assert.deepEqual(await world.claim({ now: START + 10 ** 9, abandoned: true }), []);
  });

  test('the attempt that holds the lease puts the delivery back, with the reason', async () => {
    await sending(2);
    const [moved] = await world.settle(id, 'queued', { attempt: 2, dueAt: START + LEASE * 3, error: "l'hôte \\ 😀" });
    assert.equal(moved?.status, 'queued');
    const [recipient] = await world.outbox.recipients(id);
    assert.equal(recipient?.status, 'queued');
    assert.equal(recipient?.error, "l'hôte \\ 😀");
    assert.deepEqual(await world.claim({ now: START + LEASE * 3 - 1, abandoned: true }), []);
    const [again] = await world.claim({ now: START + LEASE * 3 });
    assert.equal(again?.attempt, 3);
    await world.settle(id, 'delivered', { attempt: 3 });
    assert.equal((await world.outbox.recipients(id))[0]?.error, undefined);
  });

  test('a delivery that was not tried goes back without counting its attempt', async () => {
    await sending(2);
    let now = START + LEASE + 1;
    for (const error of ['full', 'still full']) {
      const untried = { attempt: 2, uncounted: { leaseUntil: now + LEASE }, dueAt: now + 1, error } as const;
      assert.equal((await world.settle(id, 'queued', untried)).length, 1);
      assert.equal((await world.outbox.recipients(id))[0]?.error, error);
      assert.deepEqual(await world.claim({ now, abandoned: true }), []);
      now += 1;
      assert.equal((await world.claim({ now }))[0]?.attempt, 2);
      // A repeated report by a worker that did not see its commit. It does not belong to the current claim.
      assert.deepEqual(await world.settle(id, 'queued', untried), []);
      await world.stand(id, ['sending']);
    }
    await world.settle(id, 'queued', { attempt: 2, dueAt: now });
    assert.equal((await world.claim({ now }))[0]?.attempt, 3);
    await world.holds(3);
  });

  test('only the holder of the lease can put a delivery back', async () => {
    await sending();
    assert.deepEqual(await world.settle(id, 'queued', { dueAt: START }), []);
    assert.deepEqual(await world.settle(id, 'queued', { attempt: 2, dueAt: START }), []);
    await world.stand(id, ['sending']);
  });

  test('a report may come before the hand-off has been answered', async () => {
    await sending();
    assert.equal((await world.settle(id, 'delivered')).length, 1);
    assert.deepEqual(await world.settle(id, 'sent', { attempt: 1 }), []);
    await world.stand(id, ['delivered']);
  });

  test('a later report moves a delivery on from unknown', async () => {
    await sending();
    await world.settle(id, 'unknown', { attempt: 1, error: 'no answer' });
    assert.equal((await world.outbox.recipients(id))[0]?.error, 'no answer');
    assert.deepEqual(await world.settle(id, 'sent'), []);
    assert.equal((await world.settle(id, 'delivered')).length, 1);
    await world.stand(id, ['delivered']);
    await world.holds(3);
  });
}

export function trailTests({ test }: TestRunner, world: StorageFixture): void {
  const id = messageId(1);

  async function sending(): Promise<void> {
    await world.fund(5);
    await world.accept(aSend(1, { recipients: recipients(2, 1) }));
    await world.claim();
  }

  test('the steps of a delivery are kept in their order, separately for each recipient', async () => {
    await sending();
    const tried = [
      { at: START, route: 'one', outcome: 'retry', code: "l'hôte 😀" },
      { at: START, route: 'two', outcome: 'sent' },
    ];
    await world.settle(id, 'sent', { attempt: 1, trail: tried });
    await world.settle(id, 'undelivered', {
      position: 1,
      trail: [{ at: START + 2 * SECOND_MS, status: 'undelivered' }],
    });
    await world.settle(id, 'delivered', { trail: [{ at: START + SECOND_MS, status: 'delivered' }] });
    assert.deepEqual(await world.outbox.trail(id), [
      { position: 0, entry: tried[0] },
      { position: 0, entry: tried[1] },
      { position: 0, entry: { at: START + SECOND_MS, status: 'delivered' } },
      { position: 1, entry: { at: START + 2 * SECOND_MS, status: 'undelivered' } },
    ]);
    assert.deepEqual(await world.outbox.trail(messageId(2)), []);
  });

  test('an update that changes nothing leaves no trace', async () => {
    await sending();
    await world.settle(id, 'delivered', { trail: [{ at: START, status: 'delivered' }] });
    await world.settle(id, 'sent', { trail: [{ at: START, status: 'sent' }] });
    assert.equal((await world.outbox.trail(id)).length, 1);
  });

  test('deliveries are found by the carrier’s reference, which a later report keeps', async () => {
    await sending();
    await world.settle(id, 'sent', { attempt: 1, reference: '3EB0' });
    await world.settle(id, 'sent', { attempt: 1, position: 1, reference: '3eb0' });
    await world.settle(id, 'delivered');
    assert.deepEqual(await world.outbox.byReference('sms', ['3EB0', 'none']), [
      { reference: '3EB0', messageId: id, position: 0 },
    ]);
    assert.deepEqual(await world.outbox.byReference('other', ['3EB0']), []);
    assert.deepEqual(await world.outbox.byReference('sms', []), []);
  });

  test('a page of recipients has the newest ten attempts of each and their number; reports are not attempts', async () => {
    await sending();
    const tried = (index: number) => ({ at: START + index, route: `r${index}`, outcome: 'retry' });
    const shown = async () =>
      (await world.outbox.recipientPage(id, { limit: 5 })).items.map(({ attempts, attemptsCount }) => ({
        routes: attempts.map(({ route }) => route),
        attemptsCount,
      }));
    const none = { routes: [], attemptsCount: 0 };
    assert.deepEqual(await shown(), [none, none]);
    const report = { at: START + 50, route: 'r', receipt: 'delivered' };
    await world.settle(id, 'sent', { attempt: 1, trail: [report, tried(1), tried(2)] });
    await world.settle(id, 'sent', { position: 1, attempt: 1, trail: range(9).map(tried) });
    await world.settle(id, 'unknown', { trail: [...range(7).map((index) => tried(index + 3)), report] });
    assert.deepEqual(await shown(), [
      { routes: range(9).map((index) => `r${index + 1}`), attemptsCount: 9 },
      { routes: range(9).map((index) => `r${index}`), attemptsCount: 9 },
    ]);
    await world.settle(id, 'delivered', { trail: [tried(10), report, tried(11)] });
    const [first] = (await world.outbox.recipientPage(id, { limit: 1 })).items;
    assert.equal(first?.attemptsCount, 11);
    assert.deepEqual(
      first?.attempts,
      range(10).map((index) => tried(index + 2)),
    );
    // Independent of the clock of the reporting process.
    await world.settle(id, 'delivered', { position: 1, trail: [{ ...tried(9), at: START - SECOND_MS }] });
    assert.deepEqual(
      (await shown())[1]?.routes,
      range(10).map((index) => `r${index}`),
    );
  });
}
