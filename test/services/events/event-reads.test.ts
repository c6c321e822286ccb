import { describe, expect, test } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { expectFewReads, fillLog } from '../../support/events/event-reads.js';
import { mariadbReads, openCounted, postgresReads, rowsOf } from '../../support/storage/rows-read.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

onPostgres('on PostgreSQL', () => {
  test('a page of events and the previous number are found by an index', async () => {
    const database = await createPostgresDatabase();
    opened({ close: () => database.drop() });
    const { source, storage } = opened(await openCounted('postgres', database.url));
    const log = await fillLog(storage);
    const { rowsRead } = opened(await postgresReads(database.url, rowsOf('messaging_event')));
    await expectFewReads(log, rowsRead);
    await source.query('ANALYZE messaging_event');
    expect(await rowsRead(() => expectFewReads(log, rowsRead))).toBeGreaterThan(0);
  });
});

onMariadb('on MariaDB', () => {
  test('a page of events and the previous number are found by an index', async () => {
    const database = await createMariadbDatabase();
    opened({ close: () => database.drop() });
    const { source, storage } = opened(await openCounted('mysql', database.url));
    const log = await fillLog(storage);
    await expectFewReads(log, mariadbReads(source));
    await source.query('ANALYZE TABLE messaging_event');
    await expectFewReads(log, mariadbReads(source));
  });
});
