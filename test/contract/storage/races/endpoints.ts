import assert from 'node:assert/strict';
import { MAX_ENDPOINTS } from '../../../../src/webhooks/endpoints/endpoint-records.js';
import { EndpointStore } from '../../../../src/webhooks/endpoints/endpoint-store.js';
import { ACCOUNT, onceKey } from '../fixtures.js';
import { anEndpoint, answering, rotate } from '../webhooks/endpoints.js';
import { atOnce, type Race } from './race.js';

/** Races for the endpoints of webhooks. */
export const ENDPOINT_RACES: Readonly<Record<string, Race>> = {
  '30 endpoints created at once: 20 exist': async (world, hand) => {
    await world.fund(0);
    const made = await atOnce(30, (index) =>
      hand(index)
        .store(EndpointStore)
        .create(anEndpoint(index), answering())
        .then(() => 'made')
        .catch(({ code }: { readonly code?: string }) => code),
    );
    assert.equal(made.filter((outcome) => outcome === 'made').length, MAX_ENDPOINTS);
    assert.equal(made.filter((outcome) => outcome === 'error.too_many_endpoints').length, 10);
    const { items } = await world.endpoints.list(ACCOUNT, { limit: 100 });
    assert.equal(items.length, MAX_ENDPOINTS);
  },

  'an endpoint made 10 times at once under one key is there once': async (world, hand) => {
    await world.fund(0);
    const made = await atOnce(10, (index) =>
      hand(index).store(EndpointStore).create(anEndpoint(index), answering(onceKey())),
    );
    const [{ reply } = { reply: {} }] = made;
    for (const each of made) assert.deepEqual(each.reply, reply);
    assert.equal(made.filter(({ replayed }) => !replayed).length, 1);
    assert.equal((await world.endpoints.list(ACCOUNT, { limit: 100 })).items.length, 1);
  },

  'a secret rotated 10 times at once: each rotation counts, and those under one key once': async (world, hand) => {
    await world.fund(0);
    await world.endpoints.create(anEndpoint(1), answering());
    const once = onceKey({ route: 'rotate' });
    await atOnce(10, (index) => rotate(world, 1, index < 5 ? once : undefined, hand(index).store(EndpointStore)));
    const { versions = [] } = (await world.endpoints.find({ accountId: ACCOUNT, id: anEndpoint(1).id })) ?? {};
    assert.deepEqual(
      versions.map(({ number }) => number),
      [7, 6, 5, 4, 3, 2, 1],
    );
  },
};
