import assert from 'node:assert/strict';
import { ACCOUNT, aSend, messageId, recipients } from './fixtures.js';
import type { StorageTamper } from './storage-harness.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

const CRIMES: Readonly<Record<string, (tamper: StorageTamper) => Promise<void>>> = {
  'a balance that grew by itself': (tamper) => tamper.balance(ACCOUNT, 8),
  'a balance that shrank by itself': (tamper) => tamper.balance(ACCOUNT, 6),
  'a negative balance': (tamper) => tamper.balance(ACCOUNT, -1),
  'a charge without its message': (tamper) => tamper.dropMessage(messageId(1)),
  'a message without its charge': (tamper) => tamper.dropCharge(messageId(1)),
  'a refund without a failed recipient': (tamper) => tamper.refund(messageId(1), 1),
};

export function bookTests({ test }: TestRunner, world: World): void {
  test('empty books are right', async () => {
    await world.sound();
  });

  for (const [name, commit] of Object.entries(CRIMES)) {
    test(`the check finds ${name} (where the harness can tamper)`, async () => {
      const { tamper } = world.harness;
      if (!tamper) return;
      await world.fund(9);
      await world.accept(aSend(1, { recipients: recipients(3) }));
      await world.claim();
      await world.settle(messageId(1), 'failed', { attempt: 1 });
      await world.holds(7);
      await commit(tamper);
      const found = await world.ledger.check();
      assert.ok(found.length > 0, 'the check says something');
      for (const sentence of found) assert.match(sentence, /\S/);
    });
  }
}
