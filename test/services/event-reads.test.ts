import { describe, expect, test } from '@jest/globals';
import { expectFewReads, fillLog } from '../support/event-reads.js';
import { createMariadbDatabase } from '../support/mariadb.js';
import { closeAfterEach } from '../support/opened.js';
import { createPostgresDatabase } from '../support/postgres.js';
import { mariadbReads, openCounted, postgresReads, rowsOf } from '../support/rows-read.js';
import { hasServer } from '../support/servers.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

onPostgres('on PostgreSQL', () => {
  test('a page of events and the number before one are found by an index', async () => {
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
  test('a page of events and the number before one are found by an index', async () => {
    const database = await createMariadbDatabase();
    opened({ close: () => database.drop() });
    const { source, storage } = opened(await openCounted('mysql', database.url));
    const log = await fillLog(storage);
    await expectFewReads(log, mariadbReads(source));
    await source.query('ANALYZE TABLE messaging_event');
    await expectFewReads(log, mariadbReads(source));
  });
});
