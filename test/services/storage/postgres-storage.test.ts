import { afterAll, afterEach, beforeEach, describe, test } from '@jest/globals';
import { describeStorage } from '../../contract/storage/storage-contract.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { openPostgres } from '../../support/databases/sql-harness.js';

const available = await hasServer('PostgreSQL', 5432);
const database = available ? await createPostgresDatabase() : undefined;

afterAll(() => database?.drop());

const suite = available ? describe : describe.skip;
suite('storage', () => {
  describeStorage('PostgreSQL', () => openPostgres(database?.url ?? ''), { describe, test, beforeEach, afterEach });
});
