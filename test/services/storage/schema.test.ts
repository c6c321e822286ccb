import { describe, expect, test } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { ACCOUNT, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { schemaRules } from '../../support/storage/schema-suite.js';

const SERVERS = [
  { name: 'PostgreSQL', port: 5432, type: 'postgres', create: createPostgresDatabase },
  { name: 'MariaDB', port: 3306, type: 'mysql', create: createMariadbDatabase },
] as const;

const opened = closeAfterEach();

for (const { name, port, type, create } of SERVERS) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;
  suite(`the schema on ${name}`, () => {
    const database = async (): Promise<string> => {
      const { url, drop } = await create();
      opened({ close: drop });
      return url;
    };
    schemaRules(async () => {
      const options: DataSourceOptions = { type, url: await database() };
      const dataSource = await new DataSource(options).initialize();
      opened({ close: () => dataSource.destroy() });
      return dataSource;
    });

    test('instances that start together on an empty database wait for each other', async () => {
      const url = await database();
      const storages = [1, 2, 3, 4].map(() => new TypeormStorage({ database: url }));
      for (const storage of storages) opened({ close: () => storage.stop() });
      await Promise.all(storages.map((storage) => storage.start()));
      await storages[0]?.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
      expect(await storages[3]?.store(AccountStore).findAccount(ACCOUNT)).toMatchObject({ name: 'A' });
    });

    test('a refused start leaves no lock on a connection that stays open', async () => {
      const url = await database();
      const options: DataSourceOptions = { type, url };
      const host = await new DataSource(options).initialize();
      opened({ close: () => host.destroy() });
      await host.query('CREATE TABLE messaging_message (id INT PRIMARY KEY)');
      await expect(new TypeormStorage({ database: host }).start()).rejects.toThrow(
        /tables that this schema did not make/,
      );
      await host.query('DROP TABLE messaging_message');
      const other = new TypeormStorage({ database: url });
      opened({ close: () => other.stop() });
      await expect(other.start()).resolves.toBeUndefined();
    });
  });
}
