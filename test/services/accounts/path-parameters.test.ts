import { afterAll } from '@jest/globals';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { describePathParameters } from '../../support/http/path-parameters.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

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
