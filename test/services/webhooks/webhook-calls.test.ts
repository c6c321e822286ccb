import { describe } from '@jest/globals';
import { DataSource } from 'typeorm';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { describeCallStore } from '../../support/webhooks/call-store-suite.js';

const SERVERS = [
  { name: 'PostgreSQL', port: 5432, type: 'postgres', make: createPostgresDatabase },
  { name: 'MariaDB', port: 3306, type: 'mysql', make: createMariadbDatabase },
] as const;

for (const { name, port, type, make } of SERVERS) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;
  suite(name, () => {
    describeCallStore(name, async () => {
      const database = await make();
      const source = await new DataSource({ type, url: database.url }).initialize();
      const close = async () => {
        await source.destroy();
        await database.drop();
      };
      return { source, close };
    });
  });
}
