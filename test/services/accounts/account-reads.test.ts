import { describe, expect, test } from '@jest/globals';
import type { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { FEW, fillAccounts, readsOf } from '../../support/accounts/account-reads.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { mariadbReads, openCounted, postgresReads, type RowsRead, rowsOf } from '../../support/storage/rows-read.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

const TABLES = ['messaging_ledger', 'messaging_message', 'messaging_recipient', 'messaging_audit'];

async function expectFewReads(storage: TypeormStorage, rowsRead: RowsRead) {
  for (const [name, work] of Object.entries(readsOf(storage))) {
    const rows = await rowsRead(work);
    expect([name, rows < FEW || rows]).toEqual([name, true]);
  }
}

onPostgres('on PostgreSQL', () => {
  test('the screens of an account are read by indexes', async () => {
    const database = await createPostgresDatabase();
    opened({ close: () => database.drop() });
    const { source, storage } = opened(await openCounted('postgres', database.url));
    await fillAccounts(storage, source);
    const { rowsRead } = opened(await postgresReads(database.url, rowsOf(...TABLES)));
    await expectFewReads(storage, rowsRead);
    await source.query('ANALYZE');
    await expectFewReads(storage, rowsRead);
  });
});

onMariadb('on MariaDB', () => {
  test('the screens of an account are read by indexes', async () => {
    const database = await createMariadbDatabase();
    opened({ close: () => database.drop() });
    const { source, storage } = opened(await openCounted('mysql', database.url));
    await fillAccounts(storage, source);
    const rowsRead = mariadbReads(source);
    await expectFewReads(storage, rowsRead);
    await source.query(`ANALYZE TABLE ${TABLES.join(', ')}`);
    await expectFewReads(storage, rowsRead);
  });
});
