import assert from 'node:assert/strict';
import { lacking, type PartRunner } from '../storage-contract/test-runner.js';
import type { TransportPart } from './transport-harness.js';
import type { TransportWorld } from './transport-world.js';

export function refusalTests({ testWith }: PartRunner<TransportPart>, world: TransportWorld): void {
  testWith('refused', 'what the carrier refuses for good is refused (where the double can refuse)', async () => {
    const number = world.number('refused');
    if (number === undefined) throw lacking('refused');
    const [result] = await world.submit([world.anSms(number)]);
    assert.equal(result?.kind, 'refused');
    assert.deepEqual(await world.received(number), []);
  });

  testWith('busy', 'what the carrier cannot take now may be tried again (where the double can be busy)', async () => {
    const number = world.number('busy');
    if (number === undefined) throw lacking('busy');
    const [result] = await world.submit([world.anSms(number)]);
    assert.equal(result?.kind, 'retry');
    assert.deepEqual(await world.received(number), []);
  });

  testWith(
    'lost',
    'what nobody answers for is in doubt, and not handed over again by itself (where the double can lose)',
    async () => {
      const number = world.number('lost');
      if (number === undefined) throw lacking('lost');
      const [result] = await world.submit([world.anSms(number)]);
      const honest = world.transport.repeat === 'idempotent' ? ['unknown', 'retry'] : ['unknown'];
      assert.ok(honest.includes(result?.kind ?? ''), `${result?.kind}`);
      assert.ok((await world.received(number)).length <= 1);
    },
  );

  testWith('refused', 'a refused SMS takes no other with it (where the double can refuse)', async () => {
    const refused = world.number('refused');
    if (refused === undefined) throw lacking('refused');
    const batch = [world.good(0), refused, world.good(1)].map((number) => world.anSms(number));
    const results = await world.submit(batch);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ['sent', 'refused', 'sent'],
    );
    assert.equal((await world.received(world.good(1))).length, 1);
  });
}
