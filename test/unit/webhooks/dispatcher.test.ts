import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HOUR_MS } from '../../../src/common/time.js';
import { CallFixture } from '../../support/webhooks/call-fixture.js';
import type { Answers } from '../../support/webhooks/receiver.js';

const WAITS = [5, 30, 120, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 24 * 3600].map((s) => s * 1000);

let world: CallFixture;
beforeEach(async () => {
  world = await CallFixture.open();
});
afterEach(() => world.close());

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const sorted = (sequences: readonly (number | null)[]) => [...sequences].map(Number).sort((a, b) => a - b);
const always =
  (status: number, headers: Record<string, string> = {}): Answers =>
  (_, response) =>
    response.writeHead(status, headers).end();
const pendingOf = (id: string) =>
  world.rows('SELECT sequence, tries, due_at, batch FROM messaging_endpoint_retry WHERE endpoint_id = ?', id);

test('every event is sent once, in a call of its own, and the cursor follows', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url);
  world.process();
  await world.record(30);
  await world.until(() => world.find(id).cursor === 30);
  expect(sorted(receiver.sequences)).toEqual(upTo(30));
  expect(receiver.calls.every(({ sequences }) => sequences.length === 1)).toBe(true);
  expect(receiver.most).toBeLessThanOrEqual(8);
});

test('only events of the endpoint’s types are sent, each with the number of the one before', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url, { types: ['optout.removed'] });
  world.process();
  await world.record(2, 'optout.added');
  await world.record(2, 'optout.removed');
  await world.record(1, 'optout.added');
  await world.record(1, 'optout.removed');
  await world.until(() => world.find(id).cursor === 6);
  const received = receiver.calls.map(({ body }) => JSON.parse(body)).sort((a, b) => a.sequence - b.sequence);
  expect(received.map(({ sequence, previous }) => [sequence, previous])).toEqual([
    [3, null],
    [4, 3],
    [6, 4],
  ]);
});

describe('batches', () => {
  test('leave when they are full, or when their first event has waited long enough', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { batch: { max: 10, waitMs: 3000 } });
    world.process();
    await world.record(25);
    await world.until(() => world.find(id).cursor === 20);
    expect(receiver.calls.map(({ sequences }) => sequences.length)).toEqual([10, 10]);
    const before = world.clock.now();
    await world.until(() => world.find(id).cursor === 25);
    expect(world.clock.now() - before).toBeGreaterThan(2000);
    expect(receiver.calls[2]?.sequences).toEqual(upTo(25, 21));
  });

  test('are repeated unchanged, under the same id and with a new signature', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { batch: { max: 10, waitMs: 0 } });
    receiver.answers = (_, response, index) => response.writeHead(index === 0 ? 500 : 200).end();
    world.process();
    await world.record(10);
    await world.until(() => pendingOf(id).length === 10);
    await world.record(3);
    await world.until(() => pendingOf(id).length === 0, undefined, 500);
    const [first, other, again] = receiver.calls;
    expect(other?.sequences).toEqual([11, 12, 13]);
    expect(again?.body).toBe(first?.body);
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(other?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
    expect(again?.headers['webhook-timestamp']).not.toBe(first?.headers['webhook-timestamp']);
    expect(again?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature']);
  });
});

describe('an event whose call fails', () => {
  test('is tried again on the schedule while the others go on, and stays listed in the end', async () => {
    const receiver = await world.receiver();
    const times: number[] = [];
    receiver.answers = ({ sequences }, response) => {
      if (sequences[0] === 1) times.push(world.clock.now());
      response.writeHead(sequences[0] === 1 ? 500 : 200).end();
    };
    const { id } = await world.endpoint(receiver.url);
    world.process();
    await world.record(3);
    await world.until(() => world.find(id).cursor === 3);
    for (const [index, wait] of WAITS.entries()) {
      await world.until(() => pendingOf(id)[0]?.tries === index + 1);
      // Other events succeed, so that the endpoint is not disabled.
      await world.record(1);
      await world.until(() => world.find(id).cursor === 4 + index);
      const due = Number(pendingOf(id)[0]?.due_at);
      expect(due - (times.at(-1) ?? 0)).toBeGreaterThanOrEqual(wait);
      expect(due - (times.at(-1) ?? 0)).toBeLessThan(wait + 1000);
      world.clock.advance(due - world.clock.now() - 1);
      await world.until(() => times.length === index + 2);
      expect(times.at(-1)).toBeGreaterThanOrEqual(due);
    }
    await world.until(() => pendingOf(id)[0]?.due_at === null);
    expect(times).toHaveLength(11);
    expect(world.find(id).status).toBe('enabled');
    expect(await world.calls.replay(world.find(id), { onlyFailed: true })).toBe(1);
    receiver.answers = always(200);
    await world.until(() => pendingOf(id).length === 0);
  });

  test('is overtaken by nothing under strict order', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { ordering: 'strict' });
    let failures = 2;
    receiver.answers = ({ sequences }, response) => {
      const fails = sequences[0] === 3 && failures-- > 0;
      response.writeHead(fails ? 500 : 200).end();
    };
    world.process();
    await world.record(6);
    await world.until(() => world.find(id).cursor === 6, undefined, 200);
    expect(receiver.sequences).toEqual([1, 2, 3, 3, 3, 4, 5, 6]);
    expect(receiver.most).toBe(1);
    expect(pendingOf(id)).toEqual([]);
  });

  test('is tried every day under strict order until the endpoint is disabled', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { ordering: 'strict' });
    receiver.answers = always(500);
    world.process();
    await world.record(2);
    const began = world.clock.now();
    await world.until(() => pendingOf(id).length === 1);
    while (world.find(id).status === 'enabled') {
      const tries = pendingOf(id)[0]?.tries;
      world.clock.advance(Math.max(0, Number(pendingOf(id)[0]?.due_at) - world.clock.now()));
      await world.until(() => pendingOf(id)[0]?.tries !== tries || world.find(id).status === 'disabled');
    }
    expect(world.find(id)).toMatchObject({ status: 'disabled', reason: 'failures', cursor: 1 });
    expect(world.clock.now() - began).toBeGreaterThanOrEqual(72 * HOUR_MS);
    expect(new Set(receiver.sequences)).toEqual(new Set([1]));
    const { events } = await world.log.read({ accountId: world.account, after: 2, limit: 10 });
    expect(events).toMatchObject([{ type: 'endpoint.disabled', data: { id, url: receiver.url, reason: 'failures' } }]);
    // When it is enabled again, it goes on where it was.
    receiver.answers = always(200);
    world.run("UPDATE messaging_endpoint SET status = 'enabled', failing_since = NULL WHERE id = ?", id);
    receiver.calls.length = 0;
    world.clock.advance(Number(pendingOf(id)[0]?.due_at) - world.clock.now());
    await world.until(() => world.find(id).cursor === 3 && pendingOf(id).length === 0, undefined, 200);
    expect(receiver.sequences).toEqual([1, 2, 3]);
  });
});

test.each([429, 503])('Retry-After of a %d rests the whole endpoint, an hour at most', async (status) => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url, { ordering: 'strict' });
  receiver.answers = (_, response, index) => {
    if (index === 0) response.writeHead(status, { 'retry-after': '86400' });
    response.end();
  };
  world.process();
  await world.record(1);
  await world.until(() => world.find(id).restsUntil !== null);
  const rest = Number(world.find(id).restsUntil) - world.clock.now();
  expect(rest).toBeLessThanOrEqual(HOUR_MS);
  expect(rest).toBeGreaterThan(HOUR_MS - 5000);
  await world.record(3);
  world.clock.advance(rest - 1000);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  expect(receiver.calls).toHaveLength(1);
  await world.until(() => world.find(id).cursor === 4 && pendingOf(id).length === 0, undefined, 500);
  expect(receiver.sequences).toEqual([1, 1, 2, 3, 4]);
});

test('a 410 disables the endpoint at once, and the log says so', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url, { ordering: 'strict' });
  receiver.answers = always(410);
  world.process();
  await world.record(3);
  await world.until(() => world.find(id).status === 'disabled');
  expect(world.find(id).reason).toBe('gone');
  const { events } = await world.log.read({ accountId: world.account, after: 3, limit: 10 });
  expect(events.map(({ type }) => type)).toEqual(['endpoint.disabled']);
  world.clock.advance(HOUR_MS);
  await world.until(() => true);
  expect(receiver.calls).toHaveLength(1);
});

test('a redirect is a failure and is not followed', async () => {
  const target = await world.receiver();
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url);
  receiver.answers = always(302, { location: target.url });
  world.process();
  await world.record(1);
  await world.until(() => pendingOf(id).length === 1);
  expect(target.calls).toHaveLength(0);
  expect(world.rows('SELECT status, ok FROM messaging_endpoint_attempt')).toEqual([{ status: 302, ok: 0 }]);
});

test('if the log was cut, endpoint.gap comes first, and is repeated until it is accepted', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url);
  await world.record(10);
  world.run('DELETE FROM messaging_event WHERE sequence <= 6');
  world.run('UPDATE messaging_event_counter SET earliest = 7');
  receiver.answers = (_, response, index) => response.writeHead(index === 0 ? 500 : 200).end();
  world.process();
  await world.until(() => world.find(id).cursor === 10);
  const [first, second, ...others] = receiver.calls;
  expect(JSON.parse(String(first?.body))).toMatchObject({
    type: 'endpoint.gap',
    sequence: null,
    previous: null,
    data: { from: 1, to: 6 },
  });
  expect(JSON.parse(String(second?.body))).toEqual({
    ...JSON.parse(String(first?.body)),
    timestamp: expect.any(String),
  });
  expect(sorted(others.flatMap(({ sequences }) => sequences))).toEqual([7, 8, 9, 10]);
});

test('pending events that are no longer kept are reported as a gap', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url, { cursor: 5 });
  await world.record(8);
  for (const sequence of [2, 3]) {
    world.run('INSERT INTO messaging_endpoint_retry VALUES (?, ?, 1, 0, NULL)', id, sequence);
  }
  world.run('DELETE FROM messaging_event WHERE sequence <= 4');
  world.run('UPDATE messaging_event_counter SET earliest = 5');
  world.process();
  await world.until(() => world.find(id).cursor === 8 && pendingOf(id).length === 0);
  expect(JSON.parse(String(receiver.calls[0]?.body)).data).toEqual({ from: 2, to: 4 });
  expect(sorted(receiver.sequences.slice(1))).toEqual([6, 7, 8]);
});

test('ten endpoints that hang delay nobody else', async () => {
  const hanging = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const receiver = await world.receiver();
      receiver.answers = () => undefined;
      await world.endpoint(receiver.url);
      return receiver;
    }),
  );
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url);
  // There are fewer slots than calls that hang.
  world.process({ slots: 4 });
  await world.record(50);
  await world.until(() => hanging.every(({ underWay }) => underWay > 0));
  await world.until(() => world.find(id).cursor === 50);
  expect(sorted(receiver.sequences)).toEqual(upTo(50));
  expect(hanging.every(({ most }) => most <= 8)).toBe(true);
});

describe('one process at a time', () => {
  test('calls an endpoint, and another goes on where it ended', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { ordering: 'strict' });
    const first = world.process();
    world.process();
    await world.record(20);
    await world.until(() => world.find(id).cursor === 20);
    expect(receiver.sequences).toEqual(upTo(20));
    await first.stop();
    await world.record(5);
    await world.until(() => world.find(id).cursor === 25);
    expect(receiver.sequences).toEqual(upTo(25));
  });

  test('may store results: a write after another process has taken the lease is refused', async () => {
    const { id } = await world.endpoint('http://127.0.0.1:1/');
    await world.record(5);
    const now = world.clock.now();
    const order = { now, leaseUntil: now + 1000, limit: 10 };
    const [first] = (await world.store.take({ ...order, owner: 'a' })).taken;
    expect((await world.store.take({ ...order, owner: 'b' })).taken).toEqual([]);
    const [second] = (await world.store.take({ ...order, owner: 'b', now: now + 1000 })).taken;
    if (!first || !second) throw new Error('It was not taken.');
    const nothing = { failingSince: undefined, restsUntil: undefined, disabled: undefined };
    const lists = { done: [], failed: [], records: [], replays: [] };
    const late = { ...nothing, ...lists, lease: first.lease, cursor: 5 };
    expect(await world.store.commit('a', [late])).toEqual(new Set());
    expect(await world.store.renew('a', [first.lease], now + 5000)).toEqual([]);
    expect(world.find(id).cursor).toBe(0);
    expect(await world.store.commit('b', [{ ...late, lease: second.lease, cursor: 2 }])).toEqual(new Set([id]));
    expect(world.find(id).cursor).toBe(2);
  });

  test('runs after a crash and repeats what was not stored, so nothing is lost', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { batch: { max: 100, waitMs: 0 } });
    // A process whose commits never arrive, as if it had been killed.
    let bury: (ours: ReadonlySet<string>) => void = () => undefined;
    const grave = new Promise<ReadonlySet<string>>((resolve) => {
      bury = resolve;
    });
    const deaf = Object.create(world.store, { commit: { value: () => grave } });
    const dead = world.process({}, deaf);
    await world.record(5000);
    await world.until(() => receiver.sequences.length >= 1200);
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(receiver.sequences.length).toBeLessThanOrEqual(1300);
    const repeated = receiver.sequences.length;
    void dead.dispatcher.beforeApplicationShutdown();
    world.process();
    await world.until(() => world.find(id).cursor === 5000, undefined, 200);
    expect(new Set(sorted(receiver.sequences))).toEqual(new Set(upTo(5000)));
    expect(receiver.sequences.length).toBe(5000 + repeated);
    bury(new Set());
  });
});

describe('requests of the owner', () => {
  test('a ping is one signed call, of which an allowed origin shows only the status', async () => {
    const receiver = await world.receiver();
    receiver.answers = (_, response) => response.writeHead(202).end('secret');
    const endpoint = await world.endpoint(receiver.url);
    expect(await world.calls.ping(endpoint)).toEqual({ status: 202, ms: null, response: null });
    expect(JSON.parse(String(receiver.calls[0]?.body))).toMatchObject({
      type: 'test.ping',
      sequence: null,
      previous: null,
      account: world.account,
    });
    expect(world.rows('SELECT * FROM messaging_endpoint_attempt')).toEqual([]);
  });

  test('an event is sent again if it is kept and of a type that the endpoint gets', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { types: ['optout.added'] });
    world.process();
    await world.record(3);
    await world.record(1, 'optout.removed');
    await world.until(() => world.find(id).cursor === 4);
    expect(await world.calls.retry(world.find(id), 2)).toBe(true);
    expect(await world.calls.retry(world.find(id), 4)).toBe(false);
    expect(await world.calls.retry(world.find(id), 5)).toBe(false);
    await world.until(() => receiver.calls.length === 4 && pendingOf(id).length === 0);
    expect(receiver.calls[3]?.sequences).toEqual([2]);
    const first = receiver.calls.find(({ sequences }) => sequences[0] === 2);
    expect(receiver.calls[3]?.body).toBe(first?.body);
  });

  test('a range of events is sent again, by numbers, times and types', async () => {
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { batch: { max: 10, waitMs: 0 } });
    world.process();
    await world.record(5);
    world.clock.advance(60_000);
    const since = world.clock.now();
    await world.record(2, 'optout.removed');
    await world.record(5);
    world.clock.advance(60_000);
    const until = world.clock.now();
    await world.record(5);
    await world.until(() => world.find(id).cursor === 17);
    const replayed = async (window: Parameters<typeof world.calls.replay>[1]) => {
      receiver.calls.length = 0;
      const events = await world.calls.replay(world.find(id), window);
      await world.until(() => receiver.sequences.length === events);
      await world.until(() => world.rows('SELECT * FROM messaging_endpoint_replay').length === 0);
      return sorted(receiver.sequences);
    };
    expect(await replayed({ onlyFailed: false })).toEqual(upTo(17));
    expect(await replayed({ onlyFailed: false, after: 15 })).toEqual([16, 17]);
    expect(await replayed({ onlyFailed: false, since, until })).toEqual(upTo(12, 6));
    expect(await replayed({ onlyFailed: false, since, until, types: ['optout.removed'] })).toEqual([6, 7]);
    expect(await replayed({ onlyFailed: false, after: 17 })).toEqual([]);
    expect(world.find(id).cursor).toBe(17);
  });
});
