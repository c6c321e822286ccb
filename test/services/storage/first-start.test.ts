import { describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { SCHEMA } from '../../../src/messaging/schema.js';
import type { Dialect } from '../../../src/storage/dialect.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import type { Operation } from '../../../src/storage/engine/operation.js';
import { lackingVersions, migrate } from '../../../src/storage/schema/migrate.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { hasServer } from '../../support/databases/servers.js';

const suite = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;
const opened = closeAfterEach();

suite('a first start of several processes on several nodes of Galera', () => {
  // GET_LOCK holds on one node only, so hosts on several Galera nodes migrate at the same time.
  const withoutLock = (dialect: Dialect): Dialect =>
    Object.create(dialect, { exclusively: { value: (migration: () => Operation<void>) => migration() } });

  test('all of them start, and the schema is complete', async () => {
    const { url, drop } = await createMariadbDatabase();
    opened({ close: drop });
    const dbs = await Promise.all(
      [1, 2, 3].map(async () => {
        const dataSource = await new DataSource({ type: 'mysql', url }).initialize();
        opened({ close: () => dataSource.destroy() });
        return databaseFor(dataSource);
      }),
    );
    const results = await Promise.allSettled(
      dbs.map((db) => db.migrate(() => migrate(withoutLock(db.dialect), 1, SCHEMA))),
    );
    expect(results.map((result) => (result.status === 'rejected' ? String(result.reason) : 'started'))).toEqual([
      'started',
      'started',
      'started',
    ]);
    expect(await dbs[0]?.read(() => lackingVersions(SCHEMA))).toEqual([]);
  });

  test('after a conflict at the commit of a version, the migration begins again', async () => {
    const { url, drop } = await createMariadbDatabase();
    opened({ close: drop });
    const dataSource = await new DataSource({ type: 'mysql', url }).initialize();
    opened({ close: () => dataSource.destroy() });
    const db = await databaseFor(dataSource);
    let conflicts = 3;
    await db.migrate(() =>
      db.dialect.exclusively(function* () {
        if (conflicts-- > 0) throw Object.assign(new Error('Deadlock found'), { code: 'ER_LOCK_DEADLOCK' });
        yield* migrate(withoutLock(db.dialect), 1, SCHEMA);
      }),
    );
    expect(await db.read(() => lackingVersions(SCHEMA))).toEqual([]);
  });
});
