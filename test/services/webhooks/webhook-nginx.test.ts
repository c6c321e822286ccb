import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EndpointStore } from '../../../src/webhooks/endpoints/endpoint-store.js';
import { CallFixture } from '../../support/webhooks/call-fixture.js';
import { hasNginx, OwnNginx } from '../../support/webhooks/own-nginx.js';

/** Answers of a server that this project did not write. At `/gone` nothing listens behind it. */
const LOCATIONS = `
  location /busy { add_header Retry-After 120 always; return 429; }
  location /away { add_header Retry-After 120 always; return 503; }
  location /broken { proxy_pass http://127.0.0.1:1; }
  location /gone { return 410; }
  location /moved { return 301 /yes; }
  location /impatient { keepalive_requests 2; return 200 "thanks"; }
  location /closing { keepalive_timeout 0; return 200 "thanks"; }
  location /yes { return 204; }`;

const suite = hasNginx() ? describe : describe.skip;

suite('calls to nginx', () => {
  let nginx: OwnNginx;
  let world: CallFixture;
  beforeAll(async () => {
    nginx = await OwnNginx.start(LOCATIONS);
  });
  afterAll(() => nginx.close());
  beforeEach(async () => {
    world = await CallFixture.open();
  });
  afterEach(() => world.close());

  /** Calls a location with this many events, and returns the statuses of its first calls. */
  async function called(path: string, events: number) {
    const { id } = await world.endpoint(`${nginx.url}${path}`);
    world.process();
    await world.record(events);
    await world.until(() => world.find(id).cursor === events || world.find(id).restsUntil !== null);
    const { items } = await world.storage.store(EndpointStore).attempts({ endpointId: id, limit: 100 });
    return { id, endpoint: world.find(id), calls: items.map(({ status, ok }) => ({ status, ok })) };
  }

  test.each([
    ['/busy', 429],
    ['/away', 503],
  ])('%s: the endpoint rests as long as requested', async (path, status) => {
    const { endpoint, calls } = await called(path, 1);
    expect(calls).toEqual([{ status, ok: false }]);
    expect(Number(endpoint.restsUntil) - world.clock.now()).toBeLessThanOrEqual(120_000);
    expect(Number(endpoint.restsUntil) - world.clock.now()).toBeGreaterThan(110_000);
  });

  test.each([
    ['/broken', 502],
    ['/moved', 301],
    ['/nowhere', 404],
  ])('%s: the event is tried again', async (path, status) => {
    const { id, endpoint, calls } = await called(path, 1);
    expect(calls).toEqual([{ status, ok: false }]);
    expect(endpoint.failingSince).not.toBeNull();
    expect(world.rows('SELECT tries FROM messaging_endpoint_retry WHERE endpoint_id = ?', id)).toEqual([{ tries: 1 }]);
  });

  test('gone: the endpoint is disabled', async () => {
    const { endpoint } = await called('/gone', 1);
    expect(endpoint).toMatchObject({ status: 'disabled', reason: 'gone' });
  });

  test.each(['/impatient', '/closing', '/yes'])('%s: every event is accepted, and none is sent twice', async (path) => {
    const { id, calls } = await called(path, 60);
    expect(calls).toHaveLength(60);
    expect(calls.every(({ ok }) => ok)).toBe(true);
    expect(world.rows('SELECT * FROM messaging_endpoint_retry WHERE endpoint_id = ?', id)).toEqual([]);
  });
});
