import { describe, expect, test } from '@jest/globals';
import { FAULTS, type Fault } from './faults.js';
import { byForm, drawn, leaveOut, randomOf, short } from './form.js';
import { endureAll, sieges } from './sieges.js';

const LIMIT_MS = byForm(240_000, 1_800_000);
const besiege = sieges();

const MATRIX = (['sqlite', 'postgres', 'mariadb'] as const).flatMap((engine) => {
  const random = randomOf(`matrix ${engine}`);
  const adapter = () => drawn(random, ['express', 'fastify'] as const);
  const repeat = () => drawn(random, ['at-least-once', 'at-most-once', 'idempotent'] as const);
  const processes = short ? [drawn(random, [1, 2, 3])] : [1, 2, 3];
  return processes.map((count) => ({ engine, processes: count, adapter: adapter(), repeat: repeat() }));
});

describe('the ledger under fire', () => {
  test.each(MATRIX)(
    '$engine, $processes processes, $adapter, $repeat: answered = stored = delivered once, charged once',
    async ({ engine, processes, ...settings }) => {
      const where = `${engine}, ${processes} × ${settings.adapter}, ${settings.repeat}`;
      const service = await besiege(engine, { crew: Array(processes).fill({}), ...settings });
      if (!service) return leaveOut(`${engine}: it is not installed`);
      const problems = await endureAll(service, FAULTS, { table: 'Books under fire', where });
      expect(problems.slice(0, 20)).toEqual([]);
    },
    LIMIT_MS,
  );
});

describe('the check of the ledger', () => {
  /** Faults that the test inserts into a correct ledger, and what must be reported of each. */
  const PLANTS: readonly (readonly [name: string, sql: string, found: RegExp])[] = [
    [
      'a charge that is gone',
      "DELETE FROM messaging_ledger WHERE id = (SELECT min(id) FROM messaging_ledger WHERE kind = 'charge')",
      /charge/,
    ],
    [
      'a moment that is yet to come',
      `UPDATE messaging_message SET accepted_at = accepted_at + 600000`,
      /accepted_at lies in the future/,
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
    'finds each of these faults, and what the carrier took twice',
    async () => {
      const service = await besiege('sqlite', { crew: [{}], repeat: 'at-most-once' });
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
      const service = await besiege('sqlite', { crew: [{}], repeat: 'at-least-once', naive: true });
      const kill = FAULTS.find(({ name }) => name === 'SIGKILL');
      if (!service || !kill) throw new Error('There is always SQLite, and SIGKILL.');
      // If no kill came between an answer and its commit, the answer still differs from the one that is kept.
      expect((await service.endure(kill)).problems.join('\n')).toMatch(/is lost|was answered \{\}, and/);
    },
    LIMIT_MS,
  );
});
