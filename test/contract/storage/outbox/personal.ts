import assert from 'node:assert/strict';
import { DAY_MS, SECOND_MS } from '../../../../src/common/time.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import { contentRemover } from '../../../../src/outbox/retention/removed-payload.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

/** More recipients than a small send may have, so that each size is written by its own statement. */
const SIZES = [3, 60];

export function personalTests({ test }: TestRunner, world: StorageFixture): void {
  const remove = contentRemover(undefined);
  const varsOf = (position: number) => ({ name: `Awa "${position}" é\n{x}`, __proto__x: '' });
  const personal = (index: number, size: number, over: Partial<Send> = {}) =>
    aSend(index, {
      payload: { kind: 'text', text: 'Bonjour {name}', personal: 'off' },
      recipients: recipients(size).map((each, position) => ({
        ...each,
        units: 1 + (position % 3),
        vars: varsOf(position),
      })),
      ...over,
    });
  const storedVars = async (index: number, size: number) => {
    const page = await world.outbox.recipientPage(messageId(index), { limit: size });
    return page.items.map(({ vars }) => vars);
  };
  const claimAll = async () => [...(await world.claim({ now: START + SECOND_MS, limit: 1000 }))];
  const end = async () => {
    const at = START + 2 * SECOND_MS;
    const claimed = await claimAll();
    await world.outbox.settle(
      claimed.map(({ messageId, position, attempt }) => ({ messageId, position, attempt, status: 'delivered', at })),
    );
  };

  for (const size of SIZES) {
    test(`${size} personal texts are claimed and read with the values of their recipients`, async () => {
      await world.fund(1000);
      await world.accept(personal(0, size), aSend(1), aSend(2, { recipients: recipients(size) }));
      const claimed = (await claimAll()).sort((a, b) => a.position - b.position);
      const of = (index: number) => claimed.filter((each) => each.messageId === messageId(index));
      assert.deepEqual(
        of(0).map(({ vars }) => vars),
        range(size).map(varsOf),
      );
      assert.deepEqual(await storedVars(0, size), range(size).map(varsOf));
      assert.deepEqual(
        (await world.outbox.recipients(messageId(0))).map(({ vars }) => vars),
        range(size).map(varsOf),
      );
      for (const index of [1, 2]) {
        assert.ok(of(index).every((each) => !('vars' in each)));
        assert.ok((await storedVars(index, size)).every((vars) => vars === undefined));
      }
    });
  }

  test('each personal text is charged and refunded by its own units', async () => {
    await world.fund(1000);
    await world.accept(personal(0, 60));
    await world.holds(1000 - 120);
    await world.settle(messageId(0), 'failed', { position: 2 });
    await world.holds(1000 - 117);
    await world.settle(messageId(0), 'failed', { position: 3 });
    await world.holds(1000 - 116);
  });

  test('a refused recipient among personal texts leaves the others theirs', async () => {
    await world.fund(1000);
    const send = personal(0, 60);
    const refused = send.recipients.map((each, position) =>
      position === 1 ? { number: each.number, units: 0, refused: 'opted_out' } : each,
    );
    await world.accept({ ...send, recipients: refused });
    const vars = await storedVars(0, 60);
    assert.deepEqual(vars.slice(0, 3), [varsOf(0), undefined, varsOf(2)]);
  });

  for (const size of SIZES) {
    test(`the values of ${size} recipients are removed with the text, in pieces, and only then the text`, async () => {
      await world.fund(1000);
      await world.accept(personal(0, size), aSend(1), personal(2, size, { at: START + 100 }));
      await end();
      const purge = () => world.retention.purgeTexts({ before: START + 50, now: START + DAY_MS, limit: 10 }, remove);
      let calls = 0;
      const left: number[] = [];
      for (;;) {
        const done = (await purge()) < 10;
        const [vars, message] = [await storedVars(0, size), await world.outbox.find(ACCOUNT, 'sms', messageId(0))];
        left.push(vars.filter((each) => each !== undefined).length);
        // The text is kept until no value is left, because it says that there are values.
        assert.equal(message?.payload.text === undefined, left.at(-1) === 0 && done);
        if (done) break;
        assert.ok(++calls < 20, 'the purge ends');
      }
      assert.deepEqual(left, size === 3 ? [0] : [50, 40, 30, 20, 10, 0, 0]);
      assert.deepEqual((await world.outbox.find(ACCOUNT, 'sms', messageId(0)))?.payload, {
        kind: 'text',
        removed: true,
      });
      assert.deepEqual(await storedVars(2, size), range(size).map(varsOf));
    });
  }

  test('an erased number loses its values, the other recipients keep theirs', async () => {
    await world.fund(1000);
    await world.accept(personal(0, 3));
    await end();
    const { found } = await world.retention.deliveriesTo(phone(1), '', 100);
    assert.equal(await world.retention.eraseDeliveries(phone(1), found, [], remove), 0);
    assert.deepEqual(await storedVars(0, 3), [varsOf(0), undefined, varsOf(2)]);
  });

  test('a page of long personal texts is short', async () => {
    await world.fund(1000);
    const long = 'x'.repeat(30_000);
    await world.accept(personal(0, 60, { payload: { kind: 'text', text: `${long}{name}`, personal: 'off' } }));
    const first = await world.outbox.recipientPage(messageId(0), { limit: 60 });
    assert.ok(first.items.length < 60);
    assert.equal(first.next, first.items.length);
    const rest = await world.outbox.recipientPage(messageId(0), { limit: 60, from: first.next });
    assert.equal(rest.items.length, 60 - first.items.length);
  });
}
