import assert from 'node:assert/strict';
import { EventLog } from '../../../../src/events/event-log.js';
import { ReceivedMessageStore } from '../../../../src/msgapp/received/received-message-store.js';
import { isWhole, ReceivedSmsStore } from '../../../../src/sms/inbound/received-sms-store.js';
import { ACCOUNT, range, START } from '../fixtures.js';
import { aReceivedMessage } from '../msgapp/received-messages.js';
import { aJoinedText, aPart, aReceivedText, EVERY_TEXT } from '../sms/received-texts.js';
import { atOnce, type Race } from './race.js';

/** Races for texts from phones and messages of apps. */
export const RECEIVED_TEXT_RACES: Readonly<Record<string, Race>> = {
  'the same texts received 20 times at once: each is one event': async (world, hand) => {
    const log = world.storage.store(EventLog);
    await world.fund(0);
    await log.switchOn(ACCOUNT, START);
    // Each delivers them under different ids and in a different order.
    const answers = await atOnce(20, (turn) => {
      const texts = range(10).map((index) => aReceivedText(100 * turn + index, { name: `n-${index}` }));
      return hand(turn)
        .store(ReceivedSmsStore)
        .receive(turn % 2 === 0 ? texts : texts.reverse(), START);
    });
    assert.equal(answers.flat().filter(Boolean).length, 10);
    const { events, last } = await log.read({ accountId: ACCOUNT, after: 0, limit: 100 });
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      range(10).map((index) => index + 1),
    );
    assert.equal(last, 10);
  },

  'the parts of 20 long texts at once: each is complete once, and one event although it is passed on 20 times': async (
    world,
    hand,
  ) => {
    const log = world.storage.store(EventLog);
    await world.fund(0);
    await log.switchOn(ACCOUNT, START);
    const store = (turn: number) => hand(turn).store(ReceivedSmsStore);
    const whole = await Promise.all(
      range(20).map(async (index) => {
        const source = { ...aPart(index, 1).source, total: 3 };
        const answers = await atOnce(3, (turn) => store(turn).addPart(aPart(index, turn + 1, { source }), START));
        return answers.flatMap((text) => (text && isWhole(text.content) ? [text] : []));
      }),
    );
    assert.deepEqual(
      whole.map(({ length }) => length),
      range(20).map(() => 1),
    );
    const answers = await atOnce(20, (turn) =>
      store(turn).receive(
        whole.flat().map((text, index) => aJoinedText(index, text)),
        START,
      ),
    );
    assert.equal(answers.flat().filter(Boolean).length, 20);
    assert.equal((await log.state(ACCOUNT)).last, 20);
    assert.deepEqual(await store(0).dueTexts(EVERY_TEXT), []);
  },

  'the last part of a text while the others are passed on, 20 times: no part is lost, and none counts twice': async (
    world,
    hand,
  ) => {
    await world.fund(0);
    const store = (turn: number) => hand(turn).store(ReceivedSmsStore);
    for (const index of range(20)) {
      const first = await store(index).addPart(aPart(index, 1), START);
      assert(first);
      const [[passed], last] = await Promise.all([
        store(index).receive([aJoinedText(index, first)], START),
        store(index + 1).addPart(aPart(index, 2), START),
      ]);
      assert.deepEqual(last?.content.parts, { ...(passed ? {} : { 1: 'part 1 ' }), 2: 'part 2 ' });
      assert.deepEqual((await store(0).dueTexts(EVERY_TEXT)).at(-1), last);
      assert.equal(await store(0).eraseParts(aPart(index, 1).phone), 1);
    }
  },

  'the same messages of an app received 20 times at once: each is one event': async (world, hand) => {
    const log = world.storage.store(EventLog);
    await world.fund(0);
    await log.switchOn(ACCOUNT, START);
    const answers = await atOnce(20, (turn) => {
      const messages = range(10).map((index) => aReceivedMessage(100 * turn + index, { name: `n-${index}` }));
      return hand(turn)
        .store(ReceivedMessageStore)
        .receive(turn % 2 === 0 ? messages : messages.reverse());
    });
    assert.equal(answers.flatMap(({ received }) => received).filter(Boolean).length, 10);
    assert.equal((await log.state(ACCOUNT)).last, 10);
  },
};
