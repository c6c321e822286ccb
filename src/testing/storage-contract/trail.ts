import assert from 'node:assert/strict';
import { aSend, messageId, range, recipients, SECOND, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

export function trailTests({ test }: TestRunner, world: World): void {
  const id = messageId(1);

  async function sending(): Promise<void> {
    await world.fund(5);
    await world.accept(aSend(1, { recipients: recipients(2, 1) }));
    await world.claim();
  }

  test("the steps of a delivery are kept in their order, each recipient's apart", async () => {
    await sending();
    const tried = [
      { at: START, route: 'one', outcome: 'retry', code: "l'hôte 😀" },
      { at: START, route: 'two', outcome: 'sent' },
    ];
    await world.settle(id, 'sent', { attempt: 1, trail: tried });
    await world.settle(id, 'undelivered', { position: 1, trail: [{ at: START + 2 * SECOND, status: 'undelivered' }] });
    await world.settle(id, 'delivered', { trail: [{ at: START + SECOND, status: 'delivered' }] });
    assert.deepEqual(await world.outbox.trail(id), [
      { position: 0, entry: tried[0] },
      { position: 0, entry: tried[1] },
      { position: 0, entry: { at: START + SECOND, status: 'delivered' } },
      { position: 1, entry: { at: START + 2 * SECOND, status: 'undelivered' } },
    ]);
    assert.deepEqual(await world.outbox.trail(messageId(2)), []);
  });

  test('a settlement that moves nothing leaves no trace', async () => {
    await sending();
    await world.settle(id, 'delivered', { trail: [{ at: START, status: 'delivered' }] });
    await world.settle(id, 'sent', { trail: [{ at: START, status: 'sent' }] });
    assert.equal((await world.outbox.trail(id)).length, 1);
  });

  test("deliveries are found by the carrier's reference, which a later report keeps", async () => {
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

  test('a page of recipients has the newest ten attempts of each, and how many there were; reports are none', async () => {
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
    // Whatever the clock of the process that reported it said.
    await world.settle(id, 'delivered', { position: 1, trail: [{ ...tried(9), at: START - SECOND }] });
    assert.deepEqual(
      (await shown())[1]?.routes,
      range(10).map((index) => `r${index}`),
    );
  });
}
