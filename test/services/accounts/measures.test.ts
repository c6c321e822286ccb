import { describe, expect, test } from '@jest/globals';
import { MEASURES, MeasureFixture, sorted } from '../../support/accounts/measure-fixture.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { mariadbReadsOf, postgresReadsOf } from '../../support/storage/rows-read.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

/** The 2000 that wait are read; 60 000 others and 2000 ended sessions are not. */
const MAX_ROWS = 5000;

const opened = closeAfterEach();

async function openFixture(type: 'postgres' | 'mysql', database: { url: string; drop(): Promise<void> }) {
  opened({ close: () => database.drop() });
  return opened(await MeasureFixture.open({ type, url: database.url }));
}

onPostgres('gauges on PostgreSQL', () => {
  test.each([false, true])('read a limited number of rows; statistics: %s', async (known) => {
    const world = await openFixture('postgres', await createPostgresDatabase());
    if (known) await world.database.query('VACUUM ANALYZE');
    const { measures, statements } = await world.measure();
    const { deadRows, oldestSnapshot, ...shown } = sorted(measures);
    expect(shown).toEqual(MEASURES);
    expect(deadRows.find(({ table }) => table === 'recipient')).toEqual({
      table: 'recipient',
      rows: expect.any(Number),
    });
    expect(oldestSnapshot).toBeGreaterThanOrEqual(0);
    expect(statements.length).toBeLessThanOrEqual(6);
    const runner = world.database.createQueryRunner();
    opened({ close: () => runner.release() });
    const read = await postgresReadsOf(runner, statements);
    expect([read < MAX_ROWS, read]).toEqual([true, read]);
  });
});

onMariadb('gauges on MariaDB', () => {
  test('read a limited number of rows', async () => {
    const world = await openFixture('mysql', await createMariadbDatabase());
    const { measures, statements } = await world.measure();
    const { deadRows, oldestSnapshot, ...shown } = sorted(measures);
    expect([shown, deadRows]).toEqual([MEASURES, []]);
    expect(oldestSnapshot).toBeGreaterThanOrEqual(0);
    expect(statements.length).toBeLessThanOrEqual(6);
    const runner = world.database.createQueryRunner();
    opened({ close: () => runner.release() });
    const read = await mariadbReadsOf(runner, statements);
    expect([read < MAX_ROWS, read]).toEqual([true, read]);
  });
});
