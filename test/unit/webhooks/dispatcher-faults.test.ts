import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CallRequests } from '../../../src/webhooks/calls/call-request.js';
import { CallWorld } from '../../support/webhooks/call-world.js';

let world: CallWorld;
beforeEach(async () => {
  world = await CallWorld.open();
});
afterEach(() => world.close());

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const sorted = (sequences: Iterable<number | null>) => [...sequences].map(Number).sort((a, b) => a - b);
const pendingOf = (id: string) =>
  world.rows('SELECT sequence, tries, due_at FROM messaging_endpoint_retry WHERE endpoint_id = ?', id);
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

/** As its owner changes it, without a word to other processes. */
function change(id: string, set: string, ...params: readonly unknown[]): void {
  world.run(`UPDATE messaging_endpoint SET ${set}, updated_at = updated_at + 1 WHERE id = ?`, ...params, id);
}

test('batches that wait when their endpoint takes single events from now on lose none', async () => {
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

test('a call that waited carries all its events, though its endpoint takes single ones now', async () => {
  const endpoint = await world.endpoint('http://127.0.0.1:1/');
  const events = upTo(3).map((sequence) => ({ id: `evt_${sequence}` }));
  const request = new CallRequests(world.secrets).requestOf(endpoint, events as never, 'batch_1', world.clock.now());
  expect(JSON.parse(String(request?.body))).toEqual({ events });
  expect(request?.headers['webhook-id']).toBe('batch_1');
});
