import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CrashLoad } from '../support/crash/crash-load.js';
import { busy } from '../support/crash/crash-loop.js';
import type { CrashSettings } from '../support/crash/crash-process.js';
import { LEGAL_BODIES, stallsOfLegalBodies } from '../support/crash/legal-bodies.js';
import { SqliteFile } from '../support/databases/sqlite-file.js';
import type { Adapter } from '../support/http/http-apps.js';
import { balanceOf } from '../support/http/sms-client.js';
import { startMessaging } from '../support/mounting/messaging-app.js';
import { CrowdedService } from './crowded-service.js';
import { makeDatabase, type Single } from './databases.js';
import { budget, byForm, drawn, leaveOut, note, randomOf } from './form.js';
import { HOSTILE_CALLERS, type HostileCaller } from './hostile-callers.js';
import { probe, type Seen } from './probe.js';

const LIMIT_MS = byForm(240_000, 1_800_000);
/** The time of the short form, for each test here. */
const SHARE_MS = 3000;
const TABLE = 'GET /balance of another account, ms p50/p99/max';
/** How long the other account asks alone. */
const ALONE_MS = byForm(500, 5000);
/** How long a host may take to end, because pending work has 10 s. */
const END_MS = 25_000;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
}, 60_000);

/** What a host needs for the callers of an engine. */
const SETTINGS: Readonly<Record<Single, Omit<CrashSettings, 'database'>>> = {
  // Without workers: sends to 100 000 are only listed.
  sqlite: { carrier: 'twilio', channels: { codes: 'none' }, role: 'api' },
  postgres: { channels: { codes: 'strict' } },
  mariadb: { channels: { codes: 'strict' } },
};

const random = randomOf('crowds');
const ADAPTERS = byForm<readonly Adapter[]>([drawn(random, ['express', 'fastify'])], ['express', 'fastify']);
/** In the order of the seed. */
const BODIES = LEGAL_BODIES.map((body) => ({ body, place: random() }))
  .sort((a, b) => a.place - b.place)
  .map(({ body }) => body);
const MATRIX = (['sqlite', 'postgres', 'mariadb'] as const).flatMap((engine) =>
  byForm<readonly Adapter[]>([drawn(random, ['express', 'fastify'])], ['express', 'fastify']).map((adapter) => ({
    engine,
    adapter,
  })),
);

async function serve(
  engine: Single,
  settings: Omit<CrashSettings, 'database'> = SETTINGS[engine],
): Promise<CrowdedService | undefined> {
  const database = await makeDatabase(engine);
  if (!database) return undefined;
  const service = await CrowdedService.open(database, settings);
  open.push(service);
  return service;
}

/** The answers other than 200, as a sentence. */
function unanswered({ statuses }: Seen): string[] {
  const others = Object.entries(statuses).filter(([status]) => status !== '200');
  if (others.length > 0) return [`the other account got ${others.map((each) => each.join(' × ')).join(', ')}`];
  return statuses[200] === undefined ? ['the other account did not ask'] : [];
}

async function endure(service: CrowdedService, caller: HostileCaller, where: string): Promise<string[]> {
  // The rest of the previous caller's work must not count for this one.
  for (let ask = 0; ask < 3; ask++) await balanceOf(service.other);
  const alone = await probe(service.other, () => pause(ALONE_MS), caller.other);
  await caller.prepare?.(service);
  let tally: Awaited<ReturnType<HostileCaller['strike']>> = {};
  const beside = await probe(
    service.other,
    async () => {
      tally = await caller.strike(service);
    },
    caller.other,
  );
  const own = Object.entries(tally).map(([status, times]) => `${times} × ${status}`);
  note(TABLE, {
    item: caller.item,
    where,
    caller: caller.name,
    'its answers': own.join(', '),
    alone: alone.times,
    beside: beside.times,
    'other than 200': unanswered(beside).join('') || 'none',
  });
  const refused = (caller.never ?? []).filter((status) => tally[status]);
  const problems = [
    ...unanswered(beside),
    ...refused.map((status) => `legal requests were answered ${status}, ${tally[status]} times`),
    ...(await service.problems()),
  ];
  return problems.map((problem) => `item ${caller.item}, ${caller.name}: ${problem}`);
}

describe('a hostile caller', () => {
  test.each(MATRIX)(
    'on $engine and $adapter does not take the service from another account',
    async ({ engine, adapter }) => {
      const service = await serve(engine, { ...SETTINGS[engine], adapter });
      if (!service) return leaveOut(`${engine}: it is not installed`);
      const timeFor = budget(SHARE_MS);
      const problems: string[] = [];
      for (const caller of HOSTILE_CALLERS.filter(({ engines }) => engines.includes(engine))) {
        if (!timeFor(`item ${caller.item} on ${engine}: ${caller.name}`)) continue;
        // If one cannot be set up, the next one is still tried.
        const found = endure(service, caller, `${engine}, ${adapter}`).catch((error) => [
          `item ${caller.item}, ${caller.name}: ${error}`,
        ]);
        problems.push(...(await found));
      }
      expect(problems).toEqual([]);
    },
    LIMIT_MS,
  );

  test.each(ADAPTERS)(
    'with the worst legal bodies on %s is refused, and holds the event loop for the printed time',
    async (adapter) => {
      const file = new SqliteFile();
      open.push({ close: async () => file.close() });
      const app = await startMessaging(adapter, { storage: file.storage() });
      open.unshift(app);
      const bodies = byForm(BODIES.slice(0, 2), BODIES);
      const stalls = await stallsOfLegalBodies(Number(new URL(app.url).port), app.key, bodies);
      const worst = [...stalls].sort((a, b) => b.stallMs - a.stallMs);
      for (const { name, bytes, status, stallMs } of byForm(worst.slice(0, 3), worst)) {
        note('Item 1: the longest stalls of the event loop by legal bodies', {
          adapter,
          body: name,
          MB: (bytes / 1e6).toFixed(1),
          status,
          'stall ms': stallMs,
        });
      }
      expect(stalls.filter(({ status }) => !(status >= 400 && status < 500))).toEqual([]);
    },
    LIMIT_MS,
  );

  test.each(ADAPTERS)(
    'does not keep a host on %s from ending; answered sends are delivered by the next host',
    async (adapter) => {
      const service = await serve('sqlite', { adapter });
      if (!service) throw new Error('There is always SQLite.');
      const { host, books, hostile } = service;
      const load = new CrashLoad(() => [host], hostile.key, { clients: 50 });
      await busy(load);
      const before = load.answered.size;
      const from = performance.now();
      host.signal('SIGTERM');
      const ended = await Promise.race([host.ended().then(() => true), pause(END_MS, false, { ref: false })]);
      const took = Math.round(performance.now() - from);
      const waiting = await books.unfinished();
      note('Item 2: SIGTERM while keep-alive clients send', {
        adapter,
        ended: ended ? `after ${took} ms` : `not within ${END_MS} ms`,
        'answered after SIGTERM': load.answered.size - before,
        'not yet delivered then': waiting,
      });
      await host.end('SIGKILL');
      await host.start().answering;
      await load.finishWithin(60_000);
      await books.settled();
      const problems = [...load.surprises, ...(await service.problems())];
      if (!ended) problems.push('the host did not end while clients went on to send');
      const sent = [...load.answered.values()].flatMap(({ numbers }) => numbers);
      const shown = (await books.query('SELECT number FROM messaging_phone_message')).map(({ number }) => number);
      if (sent.length !== shown.length || sent.some((number) => !shown.includes(number))) {
        problems.push(`${sent.length} sends were answered, ${shown.length} were delivered`);
      }
      expect(problems).toEqual([]);
    },
    LIMIT_MS,
  );
});

test('a service that refuses the other account now and then is detected', async () => {
  let asked = 0;
  const server = createServer((_, response) => response.writeHead(++asked % 5 === 0 ? 503 : 200).end());
  open.push({
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const seen = await probe({ url, key: 'k' }, () => pause(500));
  expect(unanswered(seen)).toEqual([expect.stringMatching(/503 × \d/)]);
});
