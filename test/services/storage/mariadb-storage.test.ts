import { afterAll, afterEach, beforeEach, describe, test } from '@jest/globals';
import { describeStorage } from '../../contract/storage/storage-contract.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { hasServer } from '../../support/databases/servers.js';
import { openMariadb } from '../../support/databases/sql-harness.js';

const available = await hasServer('MariaDB', 3306);
const database = available ? await createMariadbDatabase() : undefined;

afterAll(() => database?.drop());

const suite = available ? describe : describe.skip;
suite('storage', () => {
  describeStorage('MariaDB', () => openMariadb(database?.url ?? ''), { describe, test, beforeEach, afterEach });
});
