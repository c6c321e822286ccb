import { expect, test } from '@jest/globals';
import { besiege } from '../support/campaigns/campaign-siege.js';
import { makeDatabase } from './databases.js';
import { byForm, drawn, leaveOut, note, randomOf, short } from './form.js';

const LIMIT_MS = byForm(240_000, 3_600_000);

/** A slice of one recipient makes the campaign last longer than the kills. */
const SIEGE = byForm(
  { recipients: 1000, kills: 4, pauses: 5, slice: 1 },
  { recipients: 100_000, kills: 200, pauses: 50, slice: 1 },
);

const ENGINES = ['sqlite', 'postgres', 'mariadb'] as const;

test.each(ENGINES)(
  'a campaign on three processes that are killed at random moments, with pauses meanwhile, on %s: each recipient gets one SMS',
  async (engine) => {
    if (short && engine !== drawn(randomOf('campaigns'), ENGINES)) return leaveOut(`a campaign on ${engine}`);
    const database = await makeDatabase(engine);
    if (!database) return leaveOut(`a campaign on ${engine}: it is not installed`);
    try {
      let hits = 0;
      const killed = (wasRunning: boolean): void => {
        if (wasRunning) hits++;
      };
      const faults = await besiege({ ...SIEGE, database: database.url, hosts: 3, killed });
      note('Campaigns under kill -9', { engine, ...SIEGE, 'kills while it ran': hits, faults: faults.length });
      expect(faults).toEqual([]);
    } finally {
      await database.close();
    }
  },
  LIMIT_MS,
);
