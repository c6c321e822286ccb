import { describe, expect, test } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { type Check, readEverything, searchFor, searchRecipients } from '../../support/storage/read-cases.js';
import { MAX_ROWS, ReadFixture } from '../../support/storage/read-fixture.js';
import { mariadbReadsOf, postgresReadsOf } from '../../support/storage/rows-read.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

async function openFixture(type: 'postgres' | 'mysql', database: { url: string; drop(): Promise<void> }) {
  opened({ close: () => database.drop() });
  return opened(await ReadFixture.open({ type, url: database.url }));
}

async function search(world: ReadFixture, check: Check): Promise<void> {
  await readEverything(world, check);
  expect(await searchFor(world, { sender: 'RARE' }, check, 2 * 2200)).toBe(2);
  expect(await searchFor(world, { sender: 'RARE', kinds: ['text', 'media'] }, check, 2 * 2200)).toBe(2);
  expect(await searchFor(world, { metadata: { order: '0' } }, check, 2 * 2200)).toBe(2);
  expect(await searchFor(world, { status: 'failed' }, check, MAX_ROWS)).toBe(3);
  expect(await searchRecipients(world, check, MAX_ROWS)).toBe(2);
}

onPostgres('the reads of an account on PostgreSQL', () => {
  test.each([false, true])(
    'touch a limited number of rows, with what the planner knows of the tables: %s',
    async (known) => {
      const world = await openFixture('postgres', await createPostgresDatabase());
      if (known) await world.database.query('ANALYZE');
      const runner = world.database.createQueryRunner();
      opened({ close: () => runner.release() });
      await search(world, async ({ statements }, most) => {
        const read = await postgresReadsOf(runner, statements);
        expect([statements.map(({ sql }) => sql), read <= most, read]).toEqual([expect.anything(), true, read]);
      });
    },
  );
});

onMariadb('the reads of an account on MariaDB', () => {
  test('touch a limited number of rows', async () => {
    const world = await openFixture('mysql', await createMariadbDatabase());
    const runner = world.database.createQueryRunner();
    opened({ close: () => runner.release() });
    await search(world, async ({ statements }, most) => {
      const read = await mariadbReadsOf(runner, statements);
      expect([statements.map(({ sql }) => sql), read <= most, read]).toEqual([expect.anything(), true, read]);
    });
  });
});
