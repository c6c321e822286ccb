import { afterAll, describe } from '@jest/globals';
import { DataSource } from 'typeorm';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { openMariadb, openPostgres } from '../../support/databases/sql-harness.js';
import { dumpOf, type ErasureGround, erasureSuite } from '../../support/outbox/erasure-suite.js';

const SERVERS = [
  {
    name: 'PostgreSQL',
    available: await hasServer('PostgreSQL', 5432),
    create: createPostgresDatabase,
    open: openPostgres,
    type: 'postgres' as const,
    tables: "SELECT tablename AS name FROM pg_tables WHERE tablename LIKE 'messaging%'",
  },
  {
    name: 'MariaDB',
    available: await hasServer('MariaDB', 3306),
    create: createMariadbDatabase,
    open: openMariadb,
    type: 'mysql' as const,
    tables:
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'messaging%'",
  },
];

for (const { name, available, create, open, type, tables } of SERVERS) {
  const suite = available ? describe : describe.skip;
  suite(`erasing a number on ${name}`, () => {
    const ended: (() => Promise<void>)[] = [];
    afterAll(async () => {
      for (const end of ended) await end();
    });

    erasureSuite(async (): Promise<ErasureGround> => {
      const database = await create();
      ended.push(() => database.drop());
      const { storage, close } = await open(database.url);
      const dataSource = await new DataSource({ type, url: database.url }).initialize();
      return {
        storage,
        dump: () => dumpOf(dataSource, tables),
        close: async () => {
          await dataSource.destroy();
          await close();
        },
      };
    });
  });
}
