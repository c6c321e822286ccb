import { afterEach, describe, expect, test } from '@jest/globals';
import { BesiegedService, type SiegeSettings } from './besieged-service.js';
import { type Engine, makeDatabase } from './databases.js';
import { FAULTS, type Fault } from './faults.js';
import { byForm, drawn, leaveOut, note, randomOf, short } from './form.js';

const LIMIT_MS = byForm(240_000, 1_800_000);
const open: BesiegedService[] = [];

afterEach(async () => {
  for (const service of open.splice(0)) await service.close();
}, 60_000);

async function besiege(engine: Engine, settings: SiegeSettings): Promise<BesiegedService | undefined> {
  const database = await makeDatabase(engine);
  if (!database) return undefined;
  const service = await BesiegedService.open(database, settings, randomOf(`${engine} ${JSON.stringify(settings)}`));
  open.push(service);
  return service;
}

/** In the short form one that the seed draws, in full all. */
function faultsFor(service: BesiegedService): readonly Fault[] {
  const { random, database } = service.ground;
  const fitting = FAULTS.filter(({ fits }) => fits(service.ground));
  const chosen = fitting[Math.floor(random() * fitting.length)];
  if (!short || !chosen) return fitting;
  for (const fault of fitting) if (fault !== chosen) leaveOut(`${fault.name} on ${database.engine}`);
  return [chosen];
}

const MATRIX = (['sqlite', 'postgres', 'mariadb'] as const).flatMap((engine) => {
  const random = randomOf(`matrix ${engine}`);
  const adapter = () => drawn(random, ['express', 'fastify'] as const);
  const repeat = () => drawn(random, ['at-least-once', 'at-most-once', 'idempotent'] as const);
  const processes = short ? [drawn(random, [1, 2, 3])] : [1, 2, 3];
  return processes.map((count) => ({ engine, processes: count, adapter: adapter(), repeat: repeat() }));
});

describe('the books under fire', () => {
  test.each(MATRIX)(
    '$engine, $processes processes, $adapter, $repeat: answered = stored = delivered once, charged once',
    async ({ engine, ...settings }) => {
      const where = `${engine}, ${settings.processes} × ${settings.adapter}, ${settings.repeat}`;
      const service = await besiege(engine, settings);
      if (!service) return leaveOut(`${engine}: it is not installed`);
      const all: string[] = [];
      for (const fault of faultsFor(service)) {
        // What one fault has left is not to be blamed on the next.
        if (all.length > 0) {
          leaveOut(`${fault.name} on ${where}`);
          continue;
        }
        const { problems, ...figures } = await service.endure(fault);
        note('Books under fire (unknown, duplicates and refunded add up)', {
          ...{ where, fault: fault.name },
          ...figures,
          problems: problems.length,
        });
        all.push(...problems.map((problem) => `${fault.name}: ${problem}`));
      }
      expect(all.slice(0, 20)).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe('the check of the books', () => {
  /** What a test's own hand does to right books, and what must be said of it then. */
  const PLANTS: readonly (readonly [name: string, sql: string, found: RegExp])[] = [
    [
      'a charge that is gone',
      "DELETE FROM messaging_ledger WHERE id = (SELECT min(id) FROM messaging_ledger WHERE kind = 'charge')",
      /charge/,
    ],
    ['a unit too many', 'UPDATE messaging_account SET balance = balance + 1', /postings make/],
    [
      'a message that is gone',
      'DELETE FROM messaging_recipient WHERE message_id = (SELECT min(id) FROM messaging_message)',
      /is lost/,
    ],
    [
      'a reply that is gone',
      'DELETE FROM messaging_idempotency WHERE idempotency_key = (SELECT min(idempotency_key) FROM messaging_idempotency)',
      /nothing is kept/,
    ],
    [
      'a refund for what was delivered',
      "UPDATE messaging_recipient SET refunded_units = 1 WHERE status = 'delivered'",
      /were refunded/,
    ],
    [
      'a delivery that no carrier saw',
      "UPDATE messaging_recipient SET number = '22600000000' WHERE status = 'delivered'",
      /carried 0 times/,
    ],
  ];

  test(
    'finds each of these plants, and what the carrier took twice',
    async () => {
      const service = await besiege('sqlite', { processes: 1, repeat: 'at-most-once' });
      if (!service) throw new Error('There is always SQLite.');
      const none: Fault = { name: 'none', fits: () => true, strike: async () => 0 };
      expect((await service.endure(none)).problems).toEqual([]);
      const [host] = service.ground.hosts;
      await host.end('SIGTERM');
      for (const [name, sql, found] of PLANTS) {
        await service.books.query('BEGIN');
        await service.books.query(sql);
        expect([name, (await service.problems()).join('\n')]).toEqual([name, expect.stringMatching(found)]);
        await service.books.query('ROLLBACK');
      }
      const { taken } = service.ground.carrier;
      for (const number of taken.keys()) taken.set(number, 2);
      expect((await service.problems()).join('\n')).toMatch(/carried 2 times/);
    },
    LIMIT_MS,
  );

  test(
    'finds a service that answers before it commits',
    async () => {
      const service = await besiege('sqlite', { processes: 1, repeat: 'at-least-once', naive: true });
      const kill = FAULTS.find(({ name }) => name === 'SIGKILL');
      if (!service || !kill) throw new Error('There is always SQLite, and SIGKILL.');
      expect((await service.endure(kill)).problems.join('\n')).toMatch(/is lost/);
    },
    LIMIT_MS,
  );
});
