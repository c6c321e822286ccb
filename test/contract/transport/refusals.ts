import assert from 'node:assert/strict';
import { lacking, type PartRunner } from '../test-runner.js';
import type { TransportFixture } from './transport-fixture.js';
import type { TransportPart } from './transport-harness.js';

export function refusalTests({ testWith }: PartRunner<TransportPart>, fixture: TransportFixture): void {
  testWith('refused', 'what the carrier refuses for good is refused (where the double can refuse)', async () => {
    const number = fixture.number('refused');
    if (number === undefined) throw lacking('refused');
    const [result] = await fixture.submit([fixture.anSms(number)]);
    assert.equal(result?.kind, 'refused');
    assert.deepEqual(await fixture.received(number), []);
  });

  testWith('busy', 'what the carrier cannot take now may be tried again (where the double can be busy)', async () => {
    const number = fixture.number('busy');
    if (number === undefined) throw lacking('busy');
    const [result] = await fixture.submit([fixture.anSms(number)]);
    assert.equal(result?.kind, 'retry');
    assert.deepEqual(await fixture.received(number), []);
  });

  testWith(
    'lost',
    'what nobody answers for is in doubt, and not handed over again by itself (where the double can lose)',
    async () => {
      const number = fixture.number('lost');
      if (number === undefined) throw lacking('lost');
      const [result] = await fixture.submit([fixture.anSms(number)]);
      const honest = fixture.transport.repeat === 'idempotent' ? ['unknown', 'retry'] : ['unknown'];
      assert.ok(honest.includes(result?.kind ?? ''), `${result?.kind}`);
      assert.ok((await fixture.received(number)).length <= 1);
    },
  );

  testWith('refused', 'a refused SMS takes no other with it (where the double can refuse)', async () => {
    const refused = fixture.number('refused');
    if (refused === undefined) throw lacking('refused');
    const batch = [fixture.good(0), refused, fixture.good(1)].map((number) => fixture.anSms(number));
    const results = await fixture.submit(batch);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'refused', 'sent'],
    );
    assert.equal((await fixture.received(fixture.good(1))).length, 1);
  });
}
