import assert from 'node:assert/strict';
import { EventLog } from '../../../events/event-log.js';
import { ReceivedMessageStore } from '../../../msgapp/received/received-message-store.js';
import { ReceivedSmsStore } from '../../../sms/inbound/received-sms-store.js';
import { ACCOUNT, range, START } from '../fixtures.js';
import { aReceivedMessage } from '../received-messages.js';
import { aReceivedText } from '../received-texts.js';
import { atOnce, type Race } from './race.js';

/** Races for texts of phones and messages of apps. */
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
    assert.equal(answers.flat().filter(Boolean).length, 10);
    assert.equal((await log.state(ACCOUNT)).last, 10);
  },
};
