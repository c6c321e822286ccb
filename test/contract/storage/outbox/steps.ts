import assert from 'node:assert/strict';
import { MINUTE_MS } from '../../../../src/common/time.js';
import type { SendStep } from '../../../../src/outbox/accept/send-step.js';
import { rowsOf } from '../../../../src/storage/engine/operation.js';
import type { TestRunner } from '../../test-runner.js';
import { aSend, phone, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';
import { look } from './records.js';

/** A step that adds a row, and refuses the send if the row exists. */
function adding(key: string): SendStep {
  return {
    *check(dialect) {
      const rows = yield* rowsOf(dialect.lockByIds('messaging_policy', 'a.id', 'wait'), JSON.stringify([key]));
      return rows.length > 0 ? 'error.otp_too_many_codes' : undefined;
    },
    write: () => [
      {
        sql: 'INSERT INTO messaging_policy (id, version, state, messages, expires_at) VALUES (?, ?, ?, ?, ?)',
        params: [key, 0, '{}', '[]', START + MINUTE_MS],
      },
    ],
  };
}

export function stepTests({ test }: TestRunner, world: StorageFixture): void {
  test('the change of a step is stored with its send, also beside other sends', async () => {
    await world.fund(3);
    const outcomes = await world.commit(aSend(1), aSend(2, { step: adding('row') }), aSend(3));
    assert.deepEqual(kinds(outcomes), ['accepted', 'accepted', 'accepted']);
    assert.deepEqual([...(await look(world, 'row')).keys()], ['row']);
    await world.holds(0);
  });

  test('a send that its step refuses is not stored, and the others of the batch are', async () => {
    await world.fund(3);
    await world.accept(aSend(1, { step: adding('row') }));
    const outcomes = await world.commit(aSend(2, { step: adding('row') }), aSend(3));
    assert.deepEqual(kinds(outcomes), ['policy', 'accepted']);
    await world.holds(1);
  });

  test('a send that the balance refuses leaves the rows of its step as they are', async () => {
    await world.fund(1);
    const recipients = [{ number: phone(1), units: 2 }];
    assert.deepEqual(kinds(await world.commit(aSend(1, { recipients, step: adding('row') }))), [
      'insufficient_balance',
    ]);
    assert.deepEqual([...(await look(world, 'row'))], []);
    await world.holds(1);
  });
}
