import { describe } from '@jest/globals';
import { createMariadbDatabase } from '../support/mariadb.js';
import { unmountAfterEach } from '../support/mounted.js';
import { closeAfterEach } from '../support/opened.js';
import { fourthCapability } from '../support/postcards/postcard-suite.js';
import { createPostgresDatabase } from '../support/postgres.js';
import { hasServer } from '../support/servers.js';

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
