import { describe, expect, test } from '@jest/globals';
import { BEGIN } from '../../src/storage/typeorm/engine/connection.js';
import type { Statement } from '../../src/storage/typeorm/engine/operation.js';
import { createMariadbDatabase } from '../support/mariadb.js';
import { MEASURES, MeasureWorld, sorted } from '../support/measure-world.js';
import { closeAfterEach } from '../support/opened.js';
import { createPostgresDatabase } from '../support/postgres.js';
import { hasServer } from '../support/servers.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

/** The 2000 that wait are read; 60 000 others and 2000 sessions that are over are not. */
const MOST_ROWS = 5000;

const opened = closeAfterEach();

async function openWorld(type: 'postgres' | 'mysql', database: { url: string; drop(): Promise<void> }) {
  opened({ close: () => database.drop() });
  return opened(await MeasureWorld.open({ type, url: database.url }));
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
  const isOurs = step['Relation Name']?.startsWith('messaging_') === true;
  const own = isOurs ? step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0) : 0;
  return own * step['Actual Loops'] + (step.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), 0);
}

onPostgres('gauges on PostgreSQL', () => {
  test.each([false, true])('read a limited number of rows; statistics: %s', async (known) => {
    const world = await openWorld('postgres', await createPostgresDatabase());
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
    await runner.query(BEGIN);
    let read = 0;
    for (const { sql, params } of statements) {
      const explained = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`;
      const [row]: { 'QUERY PLAN': [{ Plan: Step }] }[] = await runner.query(explained, [...params]);
      if (row) read += rowsRead(row['QUERY PLAN'][0].Plan);
    }
    await runner.query('COMMIT');
    expect([read < MOST_ROWS, read]).toEqual([true, read]);
  });
});

onMariadb('gauges on MariaDB', () => {
  test('read a limited number of rows', async () => {
    const world = await openWorld('mysql', await createMariadbDatabase());
    const { measures, statements } = await world.measure();
    const { deadRows, oldestSnapshot, ...shown } = sorted(measures);
    expect([shown, deadRows]).toEqual([MEASURES, []]);
    expect(oldestSnapshot).toBeGreaterThanOrEqual(0);
    expect(statements.length).toBeLessThanOrEqual(6);
    const runner = world.database.createQueryRunner();
    opened({ close: () => runner.release() });
    const counted = async (each: readonly Statement[]) => {
      await runner.query('FLUSH STATUS');
      for (const { sql, params } of each) await runner.query(sql, [...params]);
      const counts: { Value: string }[] = await runner.query(
        "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' AND Variable_name NOT LIKE '%rnd%'",
      );
      return counts.reduce((sum, { Value }) => sum + Number(Value), 0);
    };
    const read = await counted(statements);
    expect([read < MOST_ROWS, read]).toEqual([true, read]);
  });
});
