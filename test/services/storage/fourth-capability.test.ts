import { describe } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';
import { fourthCapability } from '../../support/postcards/postcard-suite.js';

const SERVERS = [
  { name: 'PostgreSQL', port: 5432, create: createPostgresDatabase },
  { name: 'MariaDB', port: 3306, create: createMariadbDatabase },
] as const;

const opened = closeAfterEach();
unmountAfterEach();

for (const { name, port, create } of SERVERS) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;
  suite(`a fourth capability on ${name}`, () => {
    fourthCapability('fastify', async () => {
      const { url, drop } = await create();
      opened({ close: drop });
      return url;
    });
  });
}
