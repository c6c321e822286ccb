import { describe, expect, test } from '@jest/globals';
import { hasRedis } from '../support/databases/own-redis.js';
import type { Member } from './besieged-service.js';
import type { Engine } from './databases.js';
import { type Fault, queueFaults } from './faults.js';
import { byForm, drawn, leaveOut, randomOf } from './form.js';
import { endureAll, sieges } from './sieges.js';

const LIMIT_MS = byForm(240_000, 1_800_000);
const besiege = sieges();

/** A machine whose clock was set wrong. */
const AHEAD = { aheadMs: 600_000 };

/** The processes and their engines. The processes on one SQLite file are on one machine, whose clock they share. */
const CREWS: readonly { engine: Engine; crew: readonly Member[]; kills: number }[] = [
  {
    engine: 'postgres',
    crew: [{ role: 'api' }, { role: 'worker' }, { role: 'sessions' }, { role: 'all', ...AHEAD }],
    kills: byForm(2, 200),
  },
  {
    engine: 'mariadb',
    crew: [{ role: 'api' }, { role: 'worker', ...AHEAD }, { role: 'all' }],
    kills: byForm(2, 50),
  },
  { engine: 'sqlite', crew: [{ role: 'api' }, { role: 'all' }], kills: byForm(2, 50) },
];

const none: Fault = { name: 'none', fits: () => true, strike: async () => 0 };

describe('several processes with roles and Redis under fire', () => {
  test.each(CREWS)(
    '$engine: answered = stored = delivered once, charged once',
    async ({ engine, crew, kills }) => {
      const repeat = drawn(randomOf(`queue ${engine}`), ['at-least-once', 'at-most-once', 'idempotent'] as const);
      const where = `${engine}, ${crew.map(({ role }) => role).join(' + ')}, ${repeat}`;
      if (!hasRedis()) return leaveOut(`${where}: Redis is not installed`);
      const service = await besiege(engine, { crew, repeat, redis: true });
      if (!service) return leaveOut(`${engine}: it is not installed`);
      const problems = await endureAll(service, queueFaults(kills), { table: 'Roles and Redis under fire', where });
      expect(problems.slice(0, 20)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'a process that uses a clock of its own is detected',
    async () => {
      const service = await besiege('postgres', { crew: [AHEAD], repeat: 'idempotent', ownClock: true });
      if (!service) return leaveOut('a clock of its own: PostgreSQL is not installed');
      expect((await service.endure(none)).problems.join('\n')).toMatch(/lies in the future/);
    },
    LIMIT_MS,
  );
});
