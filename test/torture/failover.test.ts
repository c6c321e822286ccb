import { describe, expect, test } from '@jest/globals';
import { FAILOVER_FAULTS, LOST_TAIL } from './cluster-faults.js';
import { byForm, leaveOut, note } from './form.js';
import { endureAll, sieges } from './sieges.js';

const LIMIT_MS = byForm(600_000, 1_800_000);
const CREW = { crew: [{}, {}], repeat: 'at-most-once' } as const;
const besiege = sieges();

describe('two hosts on a PostgreSQL that fails over, under fire', () => {
  test(
    'answered = stored = charged once, handed over at most once, and all hosts recover',
    async () => {
      const service = await besiege('failover', CREW);
      if (!service) return leaveOut('failover: PostgreSQL or HAProxy is not installed');
      const where = 'failover, 2 × express';
      const problems = await endureAll(service, FAILOVER_FAULTS, { table: 'Failover', where });
      expect(problems.slice(0, 20)).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    'the writes that an asynchronous standby did not get are found to be lost',
    async () => {
      const service = await besiege('failover', CREW);
      if (!service) return leaveOut('an asynchronous standby: PostgreSQL or HAProxy is not installed');
      await service.ground.database.pair?.wait(false);
      const { problems, answered } = await service.endure(LOST_TAIL);
      const lost = problems.filter((problem) => /was answered and is lost/.test(problem)).length;
      note('Lost with an asynchronous standby', { answered, lost });
      expect(lost).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
