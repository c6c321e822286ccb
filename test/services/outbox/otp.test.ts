import { afterAll, describe } from '@jest/globals';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { openPostgres } from '../../support/databases/sql-harness.js';
import { describeOtp } from '../../support/otp/otp-suite.js';

const available = await hasServer('PostgreSQL', 5432);
const database = available ? await createPostgresDatabase() : undefined;

afterAll(() => database?.drop());

const suite = available ? describe : describe.skip;
suite('over HTTP', () => {
  for (const adapter of ['express', 'fastify'] as const) {
    describeOtp(adapter, 'PostgreSQL', async () => {
      const url = database?.url ?? '';
      const { storage } = await openPostgres(url);
      return { storage, database: { type: 'postgres', url, parseInt8: true } };
    });
  }
});
