import { afterAll, beforeAll, describe } from '@jest/globals';
import { createMariadbDatabase } from '../support/mariadb.js';
import { operatorSuite } from '../support/operator-suite.js';
import { createPostgresDatabase } from '../support/postgres.js';
import { hasServer } from '../support/servers.js';
import { openMariadb, openPostgres } from '../support/sql-harness.js';

const SERVERS = [
  {
    name: 'PostgreSQL',
    available: await hasServer('PostgreSQL', 5432),
    create: createPostgresDatabase,
    open: openPostgres,
  },
  { name: 'MariaDB', available: await hasServer('MariaDB', 3306), create: createMariadbDatabase, open: openMariadb },
];

for (const { name, available, create, open } of SERVERS) {
  const suite = available ? describe : describe.skip;
  suite(`the stores of operators on ${name}`, () => {
    let database: Awaited<ReturnType<typeof create>>;
    beforeAll(async () => {
      database = await create();
    });
    afterAll(() => database.drop());
    operatorSuite(() => open(database.url));
  });
}
