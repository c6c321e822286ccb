import { describe, expect, test } from '@jest/globals';
import { BEGIN } from '../../src/storage/typeorm/engine/connection.js';
import { createMariadbDatabase } from '../support/mariadb.js';
import { closeAfterEach } from '../support/opened.js';
import { createPostgresDatabase } from '../support/postgres.js';
import { type Check, readEverything, searchFor, searchRecipients } from '../support/read-cases.js';
import { MOST_ROWS, ReadWorld } from '../support/read-world.js';
import { hasServer } from '../support/servers.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

async function openWorld(type: 'postgres' | 'mysql', database: { url: string; drop(): Promise<void> }) {
  opened({ close: () => database.drop() });
  return opened(await ReadWorld.open({ type, url: database.url }));
}

async function search(world: ReadWorld, check: Check): Promise<void> {
  await readEverything(world, check);
  expect(await searchFor(world, { sender: 'RARE' }, check, 2 * 2200)).toBe(2);
  expect(await searchFor(world, { sender: 'RARE', kinds: ['text', 'media'] }, check, 2 * 2200)).toBe(2);
  expect(await searchFor(world, { metadata: { order: '0' } }, check, 2 * 2200)).toBe(2);
  expect(await searchFor(world, { status: 'failed' }, check, MOST_ROWS)).toBe(3);
  expect(await searchRecipients(world, check, MOST_ROWS)).toBe(2);
}

/** A step of a plan of PostgreSQL's, run. */
interface Step {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Step[];
}

function rowsRead(step: Step): number {
  const own = step['Relation Name'] === undefined ? 0 : step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0);
  return own * step['Actual Loops'] + (step.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), 0);
}

onPostgres('what an account may ask for on PostgreSQL', () => {
  test.each([false, true])(
    'reads a limited number of rows, with what the planner knows of the tables: %s',
    async (known) => {
      const world = await openWorld('postgres', await createPostgresDatabase());
      if (known) await world.database.query('ANALYZE');
      const runner = world.database.createQueryRunner();
      opened({ close: () => runner.release() });
      await search(world, async ({ statements }, most) => {
        let read = 0;
        await runner.query(BEGIN);
        for (const { sql, params } of statements) {
          const explained = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`;
          const [row]: { 'QUERY PLAN': [{ Plan: Step }] }[] = await runner.query(explained, [...params]);
          if (row) read += rowsRead(row['QUERY PLAN'][0].Plan);
        }
        await runner.query('COMMIT');
        expect([statements.map(({ sql }) => sql), read <= most, read]).toEqual([expect.anything(), true, read]);
      });
    },
  );
});

onMariadb('what an account may ask for on MariaDB', () => {
  test('reads a limited number of rows', async () => {
    const world = await openWorld('mysql', await createMariadbDatabase());
    const runner = world.database.createQueryRunner();
    opened({ close: () => runner.release() });
    await search(world, async ({ statements }, most) => {
      await runner.query('FLUSH STATUS');
      for (const { sql, params } of statements) await runner.query(sql, [...params]);
      const counts: { Variable_name: string; Value: string }[] = await runner.query(
        "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' AND Variable_name NOT LIKE '%rnd%'",
      );
      const read = counts.reduce((sum, { Value }) => sum + Number(Value), 0);
      expect([statements.map(({ sql }) => sql), read <= most, read]).toEqual([expect.anything(), true, read]);
    });
  });
});
