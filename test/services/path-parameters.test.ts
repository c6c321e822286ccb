import { afterAll } from '@jest/globals';
import { TypeormStorage } from '../../src/messaging/typeorm-storage.js';
import { createMariadbDatabase } from '../support/mariadb.js';
import { unmountAfterEach } from '../support/mounted.js';
import { describePathParameters } from '../support/path-parameters.js';
import { createPostgresDatabase } from '../support/postgres.js';
import { hasServer } from '../support/servers.js';

unmountAfterEach();

for (const [name, port, create] of [
  ['PostgreSQL', 5432, createPostgresDatabase],
  ['MariaDB', 3306, createMariadbDatabase],
] as const) {
  if (await hasServer(name, port)) {
    const { url, drop } = await create();
    afterAll(() => drop());
    describePathParameters(name, () => ({ storage: TypeormStorage.forRoot({ url }) }));
  }
}
