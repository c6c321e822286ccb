import assert from 'node:assert/strict';
import type { TestRunner } from '../storage-contract/test-runner.js';
import type { TransportWorld } from './transport-world.js';

const MANY = 200;

export function submitTests({ test }: TestRunner, world: TransportWorld): void {
  test('an SMS arrives once, under its signature', async () => {
    const [result] = await world.submit([world.anSms(world.good(), { signature: 'ALERTE', text: 'Bonjour' })]);
    assert.equal(result?.kind, 'sent');
    assert.deepEqual(await world.received(world.good()), [{ signature: 'ALERTE', text: 'Bonjour' }]);
  });

  test('nothing is a batch too', async () => {
    assert.deepEqual(await world.submit([]), []);
  });

  test(`one text to ${MANY} numbers: each gets it once`, async () => {
    const text = 'Votre colis est arrivé.';
    const batch = Array.from({ length: MANY }, (_, index) =>
      world.anSms(world.good(index), { smsId: 'one', position: index, text }),
    );
    const results = await world.submit(batch);
    for (const [index, { kind }] of results.entries()) assert.deepEqual([index, kind], [index, 'sent']);
    for (const { number } of batch) assert.deepEqual(await world.received(number), [{ signature: 'INFOS', text }]);
  });

  test('results stand in the order of the SMS', async () => {
    const outcomes = ['taken', 'refused', 'taken', 'busy', 'refused', 'taken'] as const;
    const wanted = outcomes.filter((outcome) => world.number(outcome) !== undefined);
    const batch = wanted.map((outcome, index) => world.anSms(world.number(outcome, index) ?? ''));
    const results = await world.submit(batch);
    const kinds = { taken: 'sent', refused: 'refused', busy: 'retry' };
    assert.deepEqual(
      results.map(({ kind }) => kind),
      wanted.map((outcome) => kinds[outcome]),
    );
  });

  test('several batches at once do not mix', async () => {
    const batches = [0, 1, 2, 3].map((group) =>
      Array.from({ length: 20 }, (_, index) => world.anSms(world.good(group * 20 + index))),
    );
    await Promise.all(batches.map((batch) => world.submit(batch)));
    for (const { number, signature, text } of batches.flat()) {
      assert.deepEqual(await world.received(number), [{ signature, text }]);
    }
  });

  test('several SMS to one number in one batch: each arrives', async () => {
    const batch = [1, 2, 3].map(() => world.anSms(world.good()));
    await world.submit(batch);
    const texts = (await world.received(world.good())).map(({ text }) => text);
    assert.deepEqual([...texts].sort(), batch.map(({ text }) => text).sort());
  });

  test('its capacity, if it reports one, is a number, and at least 1 while it holds nothing', async () => {
    const batch = Array.from({ length: 20 }, (_, index) => world.anSms(world.good(index)));
    const submitted = world.submit(batch);
    checkCapacity(world.transport.capacity?.());
    await submitted;
    const capacity = checkCapacity(world.transport.capacity?.());
    assert.ok(capacity >= 1, `it holds nothing, and has capacity for ${capacity}`);
  });

  test('an SMS that is handed over again arrives once, where the transport calls itself idempotent', async () => {
    if (world.transport.repeat !== 'idempotent') return;
    const sms = world.anSms(world.good());
    await world.submit([sms]);
    await world.submit([{ ...sms, attempt: 2 }]);
    assert.equal((await world.received(sms.number)).length, 1);
  });

  test('a code that has ended is answered all the same', async () => {
    const [result] = await world.submit([world.anSms(world.good(), { expiresAt: 1 })]);
    assert.equal((await world.received(world.good())).length, result?.kind === 'sent' ? 1 : 0);
  });
}

function checkCapacity(capacity: number | undefined): number {
  assert.ok(
    capacity === undefined || (typeof capacity === 'number' && !Number.isNaN(capacity)),
    `a capacity of ${capacity}`,
  );
  return capacity ?? Number.POSITIVE_INFINITY;
}
