import { expect, jest, test } from '@jest/globals';
import { EventLog } from '../../../src/events/event-log.js';
import type { EventView } from '../../../src/events/event-types.js';
import { RESTORE_GAP } from '../../../src/events/stored-event.js';
import { COMMANDS } from '../../../src/operator/commands.js';
import { startKeys } from '../../support/accounts/key-app.js';
import { delivered, logEventsOf } from '../../support/events/logged-events.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

describeOnOneAdapter('a log of events whose end is lost', (adapter) => {
  async function start() {
    const world = await startKeys(adapter);
    const { app, accountId, storage, client, clock } = world;
    const read = async (after: number) => (await client.call(`events?after=${after}`)).body as { items: EventView[] };
    await app.get(EventLog, { strict: false }).switchOn(accountId, clock.now());
    await logEventsOf(
      { app },
      Array.from({ length: 4 }, () => delivered(accountId)),
    );
    const seen = (await read(0)).items;
    expect(seen.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
    // This happens after a restore, or if a standby was promoted without the last transactions. The rest of the log is
    // unchanged.
    storage.database.exec(
      'DELETE FROM messaging_event WHERE sequence > 2; UPDATE messaging_event_counter SET sequence = 2',
    );
    return { ...world, read, seen };
  }

  test('tells a reader who has seen more where it now ends, by feed and stream', async () => {
    const { client } = await start();
    for (const [path, headers] of [
      ['events?after=4', {}],
      ['events?after=4&wait=5', {}],
      ['events/stream', { 'last-event-id': '4' }],
    ] as const) {
      const reply = await client.call(path, { headers });
      expect([path, reply.status, reply.headers.get('x-error-code')]).toEqual([path, 410, 'events_ahead']);
      expect(reply.headers.get('x-last-sequence')).toBe('2');
      expect(reply.headers.get('x-earliest-sequence')).toBe('1');
    }
    expect((await client.call('events?after=2')).status).toBe(200);
  });

  test('gives no number and no id twice after it was moved on, and its readers miss nothing', async () => {
    const print = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    const { app, accountId, read, seen, client } = await start();
    expect(await COMMANDS.restored?.run(app, [], {})).toBe(0);
    const said = print.mock.calls.flat().join('\n');
    print.mockRestore();
    expect(said).toContain('1 event logs continue');
    await logEventsOf(
      { app },
      Array.from({ length: 2 }, () => delivered(accountId)),
    );
    const { items } = await read(4);
    const next = 2 + RESTORE_GAP + 1;
    expect(items.map(({ sequence, previous }) => [sequence, previous])).toEqual([
      [next, 2],
      [next + 1, next],
    ]);
    const kept = (await read(0)).items;
    expect(kept.map(({ sequence }) => sequence)).toEqual([1, 2, next, next + 1]);
    // Kept events have the ids that readers know. New events have ids that nobody has seen.
    expect(kept.slice(0, 2).map(({ id }) => id)).toEqual(seen.slice(0, 2).map(({ id }) => id));
    const known = new Set(seen.map(({ id }) => id));
    expect(items.filter(({ id }) => known.has(id))).toEqual([]);
    expect((await client.call(`events?after=${next + 5}`)).status).toBe(410);
  });
});

test('staging beside production gives its events ids of its own', async () => {
  const idsOf = async () => {
    const { app, accountId, client, clock } = await startKeys('express', {
      ids: { useValue: { next: () => 'fixed', bytes: (size: number) => Buffer.alloc(size), random: () => 0.5 } },
    });
    await app.get(EventLog, { strict: false }).switchOn(accountId, clock.now());
    await logEventsOf({ app }, [delivered(accountId)]);
    return ((await client.call('events?after=0')).body as { items: EventView[] }).items.map(({ id }) => id);
  };
  const [production, staging] = [await idsOf(), await idsOf()];
  expect(production).toHaveLength(1);
  expect(staging).toHaveLength(1);
  expect(production).not.toEqual(staging);
});
