import assert from 'node:assert/strict';
import type { TestRunner } from '../test-runner.js';
import type { TransportFixture } from './transport-fixture.js';

const MANY = 200;

export function submitTests({ test }: TestRunner, fixture: TransportFixture): void {
  test('an SMS arrives once, under its signature', async () => {
    const [result] = await fixture.submit([fixture.anSms(fixture.good(), { signature: 'ALERTE', text: 'Bonjour' })]);
    assert.equal(result?.kind, 'sent');
    assert.deepEqual(await fixture.received(fixture.good()), [{ signature: 'ALERTE', text: 'Bonjour' }]);
  });

  test('an empty batch is accepted', async () => {
    assert.deepEqual(await fixture.submit([]), []);
  });

  test(`one text to ${MANY} numbers: each gets it once`, async () => {
    const text = 'Votre colis est arrivé.';
    const batch = Array.from({ length: MANY }, (_, index) =>
      fixture.anSms(fixture.good(index), { smsId: 'one', position: index, text }),
    );
    const results = await fixture.submit(batch);
    for (const [index, { kind }] of results.entries()) assert.deepEqual([index, kind], [index, 'sent']);
    for (const { number } of batch) assert.deepEqual(await fixture.received(number), [{ signature: 'INFOS', text }]);
  });

  test('results are in the order of the SMS', async () => {
    const outcomes = ['taken', 'refused', 'taken', 'busy', 'refused', 'taken'] as const;
    const wanted = outcomes.filter((outcome) => fixture.number(outcome) !== undefined);
    const batch = wanted.map((outcome, index) => fixture.anSms(fixture.number(outcome, index) ?? ''));
    const results = await fixture.submit(batch);
    const kinds = { taken: 'sent', refused: 'refused', busy: 'retry' };
    assert.deepEqual(
      results.map(({ kind }) => kind),
      wanted.map((outcome) => kinds[outcome]),
    );
  });

  test('several batches at once are kept apart', async () => {
    const batches = [0, 1, 2, 3].map((group) =>
      Array.from({ length: 20 }, (_, index) => fixture.anSms(fixture.good(group * 20 + index))),
    );
    await Promise.all(batches.map((batch) => fixture.submit(batch)));
    for (const { number, signature, text } of batches.flat()) {
      assert.deepEqual(await fixture.received(number), [{ signature, text }]);
    }
  });

  test('several SMS to one number in one batch all arrive', async () => {
    const batch = [1, 2, 3].map(() => fixture.anSms(fixture.good()));
    await fixture.submit(batch);
    const texts = (await fixture.received(fixture.good())).map(({ text }) => text);
    assert.deepEqual([...texts].sort(), batch.map(({ text }) => text).sort());
  });

  test('its capacity, if it reports one, is a number, and at least 1 while it holds nothing', async () => {
    const batch = Array.from({ length: 20 }, (_, index) => fixture.anSms(fixture.good(index)));
    const submitted = fixture.submit(batch);
    checkCapacity(fixture.transport.capacity?.());
    await submitted;
    const capacity = checkCapacity(fixture.transport.capacity?.());
    assert.ok(capacity >= 1, `it holds nothing, and has capacity for ${capacity}`);
  });

  test('an SMS that is handed over again arrives once, if the transport calls itself idempotent', async () => {
    if (fixture.transport.repeat !== 'idempotent') return;
    const sms = fixture.anSms(fixture.good());
    await fixture.submit([sms]);
    await fixture.submit([{ ...sms, attempt: 2 }]);
    assert.equal((await fixture.received(sms.number)).length, 1);
  });

  test('a code that has expired still gets a result', async () => {
    const [result] = await fixture.submit([fixture.anSms(fixture.good(), { expiresAt: 1 })]);
    assert.equal((await fixture.received(fixture.good())).length, result?.kind === 'sent' ? 1 : 0);
  });
}

function checkCapacity(capacity: number | undefined): number {
  assert.ok(
    capacity === undefined || (typeof capacity === 'number' && !Number.isNaN(capacity)),
    `a capacity of ${capacity}`,
  );
  return capacity ?? Number.POSITIVE_INFINITY;
}
