import assert from 'node:assert/strict';
import { EventLog } from '../../../../src/events/event-log.js';
import { ContactStore } from '../../../../src/msgapp/contacts/contact-store.js';
import { ACCOUNT, phone, range, START } from '../fixtures.js';
import { aSighting } from '../msgapp/contacts.js';
import { atOnce, type Race } from './race.js';

/** Races of processes that hear of the same people. */
export const CONTACT_RACES: Readonly<Record<string, Race>> = {
  'ten people heard of 20 times at once, by identity, by number, by both: each is one contact, identified once': async (
    world,
    hand,
  ) => {
    const log = world.storage.store(EventLog);
    await world.fund(0);
    await log.switchOn(ACCOUNT, START);
    await atOnce(20, async (turn) => {
      const sightings = range(10).map((index) =>
        aSighting(`${turn}-${index}`, {
          identity: turn % 3 === 1 ? undefined : `lid-${index}`,
          number: turn % 3 === 0 ? undefined : phone(index),
        }),
      );
      await hand(turn)
        .store(ContactStore)
        .meet(turn % 2 === 0 ? sightings : sightings.reverse());
    });
    assert.equal((await log.state(ACCOUNT)).last, 10);
    const store = world.storage.store(ContactStore);
    const owners = await Promise.all(
      range(20).flatMap((turn) => range(10).map((index) => store.find(ACCOUNT, `ct_${turn}-${index}`))),
    );
    // Every id that was ever given leads to the one contact of its person.
    const found = owners.flatMap((owner) => (owner ? [`${owner.id} ${owner.identity} ${owner.number}`] : []));
    assert.equal(new Set(found).size, 10);
    for (const index of range(10)) {
      assert.equal(found.filter((each) => each.endsWith(` lid-${index} ${phone(index)}`)).length > 0, true);
    }
  },
};
