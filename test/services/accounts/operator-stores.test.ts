import { afterAll, beforeAll, describe } from '@jest/globals';
import { operatorSuite } from '../../support/accounts/operator-suite.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { openMariadb, openPostgres } from '../../support/databases/sql-harness.js';

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
