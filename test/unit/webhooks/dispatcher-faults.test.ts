import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { CallRequests } from '../../../src/webhooks/calls/http/call-request.js';
import { CallFixture } from '../../support/webhooks/call-fixture.js';

let world: CallFixture;
beforeEach(async () => {
  world = await CallFixture.open();
});
afterEach(() => world.close());

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const sorted = (sequences: Iterable<number | null>) => [...sequences].map(Number).sort((a, b) => a - b);
const pendingOf = (id: string) =>
  world.rows('SELECT sequence, tries, due_at FROM messaging_endpoint_retry WHERE endpoint_id = ?', id);
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

/** Changes an endpoint as its owner does, without a notice to other processes. */
function change(id: string, set: string, ...params: readonly unknown[]): void {
  world.run(`UPDATE messaging_endpoint SET ${set}, updated_at = updated_at + 1 WHERE id = ?`, ...params, id);
}

test('waiting batches lose no event if their endpoint takes single events from now on', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url, { batch: { max: 10, waitMs: 0 }, cursor: 200 });
  await world.record(200);
  for (const sequence of upTo(200)) {
    world.run('INSERT INTO messaging_endpoint_retry VALUES (?, ?, 1, 0, NULL)', id, sequence);
  }
  const held: (() => void)[] = [];
  receiver.answers = (_, response) => held.push(() => response.end());
  world.process();
  await world.until(() => held.length === 8);
  change(id, 'batch_max = 1');
  world.notifier.publish('endpoint', world.account);
  await turns(20);
  receiver.answers = (_, response) => response.end();
  for (const answer of held) answer();
  await world.until(() => pendingOf(id).length === 0);
  expect(sorted(new Set(receiver.sequences))).toEqual(upTo(200));
  expect(receiver.calls.slice(8).every(({ sequences }) => sequences.length === 1)).toBe(true);
});

test('a call that waited carries all its events, even if its endpoint takes single events by now', async () => {
  const endpoint = await world.endpoint('http://127.0.0.1:1/');
  const events = upTo(3).map((sequence) => ({ id: `evt_${sequence}` }));
  const called = events.map((event) => ({ ...event, text: JSON.stringify(event) }));
  const request = new CallRequests(world.secrets).requestOf(endpoint, called as never, 'batch_1', world.clock.now());
  expect(JSON.parse(String(request?.body))).toEqual({ events });
  expect(request?.headers['webhook-id']).toBe('batch_1');
});

test('a failed read stops no endpoint of strict order', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url, { ordering: 'strict' });
  receiver.answers = (_, response, index) => response.writeHead(index === 0 ? 500 : 200).end();
  world.process();
  await world.record(3);
  await world.until(() => pendingOf(id).length === 1);
  const read = jest.spyOn(world.log, 'readStored').mockRejectedValueOnce(new Error('The database is away.'));
  await world.until(() => world.find(id).cursor === 3 && pendingOf(id).length === 0, undefined, 200);
  expect(read.mock.results.length).toBeGreaterThan(1);
  expect(receiver.sequences).toEqual([1, 1, 2, 3]);
});

test.each(['none', 'strict'] as const)(
  'a call that gets its turn while the lease may have ended is made later (%s)',
  async (ordering) => {
    const slow = await world.receiver();
    slow.answers = () => undefined;
    await world.endpoint(slow.url, { types: ['optout.removed'] });
    const receiver = await world.receiver();
    const { id } = await world.endpoint(receiver.url, { ordering });
    world.process({ slots: 1 });
    await world.record(1);
    await world.until(() => world.find(id).cursor === 1);
    // The slow call takes the only slot for a second. Then so much time passes at once that the lease must be renewed
    // first.
    await world.record(1, 'optout.removed');
    await world.until(() => slow.underWay === 1, undefined, 1);
    await world.record(2);
    await turns(20);
    world.clock.advance(9000);
    await world.until(() => world.find(id).cursor === 4 && pendingOf(id).length === 0);
    expect(sorted(new Set(receiver.sequences))).toEqual(upTo(4));
    expect(world.rows('SELECT epoch FROM messaging_endpoint WHERE id = ?', id)).toEqual([{ epoch: 1 }]);
  },
);

test('an endpoint that is disabled during a hanging call delays no renewal', async () => {
  const hanging = await world.receiver();
  hanging.answers = () => undefined;
  const disabled = await world.endpoint(hanging.url);
  const receiver = await world.receiver();
  receiver.answers = (_, response) => response.writeHead(500).end();
  const { id } = await world.endpoint(receiver.url);
  world.process();
  await world.record(1);
  await world.until(() => hanging.underWay === 1 && pendingOf(id).length === 1);
  change(disabled.id, "status = 'disabled'");
  const leaseOf = (endpoint: string) =>
    Number(world.rows('SELECT lease_until FROM messaging_endpoint WHERE id = ?', endpoint)[0]?.lease_until);
  let least = Number.POSITIVE_INFINITY;
  await world.until(() => {
    least = Math.min(least, leaseOf(id) - world.clock.now());
    return leaseOf(disabled.id) === 0;
  });
  expect(least).toBeGreaterThan(10_000 / 6);
});

test('after a suspension, a process goes on with the lease if nobody has taken it', async () => {
  const receiver = await world.receiver();
  receiver.answers = ({ sequences }, response) => response.writeHead(sequences[0] === 1 ? 500 : 200).end();
  const { id } = await world.endpoint(receiver.url);
  world.process();
  await world.record(1);
  await world.until(() => pendingOf(id).length === 1);
  world.clock.advance(60_000);
  await world.record(1);
  await world.until(() => world.find(id).cursor === 2);
  expect(world.rows('SELECT epoch FROM messaging_endpoint WHERE id = ?', id)).toEqual([{ epoch: 1 }]);
});

test('calls requested at another process are found without a notice, even if the endpoint is never idle', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url);
  world.process();
  await world.record(3);
  await world.until(() => world.find(id).cursor === 3);
  expect(await world.store.callAgain(world.find(id), 2, world.clock.now())).toBe(true);
  await world.until(async () => {
    await world.record(1);
    return receiver.sequences.filter((sequence) => sequence === 2).length === 2;
  });
  expect(world.rows('SELECT epoch FROM messaging_endpoint WHERE id = ?', id)).toEqual([{ epoch: 1 }]);
});

test('the answer of an allowed URL is shown to nobody if the endpoint has another URL by then', async () => {
  const receiver = await world.receiver();
  const { id } = await world.endpoint(receiver.url);
  let answer: () => void = () => undefined;
  receiver.answers = (_, response) => {
    answer = () => response.writeHead(500).end('secret');
  };
  world.process();
  await world.record(1);
  await world.until(() => receiver.underWay === 1);
  change(id, 'url = ?', 'https://hooks.example/');
  world.notifier.publish('endpoint', world.account);
  await turns(20);
  answer();
  await world.until(() => pendingOf(id).length === 1);
  expect(world.rows('SELECT status, reply FROM messaging_endpoint_attempt')).toEqual([{ status: 500, reply: null }]);
});
