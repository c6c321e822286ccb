import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../src/common/time.js';
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

  '40 people write again while their contacts are purged: each has one contact afterwards': async (world, hand) => {
    const [people, later] = [range(40), START + 2 * DAY_MS];
    const store = world.storage.store(ContactStore);
    await store.meet(people.map((index) => aSighting(`old-${index}`, { identity: `lid-${index}` })));
    await atOnce(people.length + 10, async (turn) => {
      const contacts = hand(turn).store(ContactStore);
      if (turn >= people.length) await contacts.purge(START + DAY_MS, 10);
      else await contacts.meet([aSighting(`new-${turn}`, { identity: `lid-${turn}`, at: later })]);
    });
    for (const index of people) {
      const both = [`ct_old-${index}`, `ct_new-${index}`].map((id) => store.find(ACCOUNT, id));
      const found = (await Promise.all(both)).flatMap((each) => each?.identity ?? []);
      assert.deepEqual(found, [`lid-${index}`]);
    }
  },
};
