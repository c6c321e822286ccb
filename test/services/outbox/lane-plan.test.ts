import { describe, expect, test } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { LANES, LongLane } from '../../support/outbox/long-lane.js';
import { mariadbReads } from '../../support/storage/rows-read.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

/** A storage on a database of its own. Both are removed after the test. */
async function openLong(type: 'postgres' | 'mysql', database: { url: string; drop(): Promise<void> }) {
  opened({ close: () => database.drop() });
  return opened(await LongLane.open({ type, url: database.url }));
}

/** A step of an executed PostgreSQL plan. */
interface Step {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly Plans?: readonly Step[];
}

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

onPostgres('the heads of 40 lanes on PostgreSQL', () => {
  test('are the first entries of an index in one statement, whatever the planner knows about the tables', async () => {
    const long = await openLong('postgres', await createPostgresDatabase());
    const runner = long.database.createQueryRunner();
    opened({ close: () => runner.release() });
    const { sql, params } = long.heads;
    for (const known of [false, true]) {
      if (known) await runner.query('ANALYZE');
      for (const plans of ['force_custom_plan', 'force_generic_plan']) {
        await runner.query(`SET plan_cache_mode = ${plans}`);
        await runner.query(`PREPARE heads AS ${sql}`);
        const explained = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE heads('${params[0]}')`;
        const [row]: { 'QUERY PLAN': [{ Plan: Step }] }[] = await runner.query(explained);
        await runner.query('DEALLOCATE heads');
        const steps = row ? stepsOf(row['QUERY PLAN'][0].Plan) : [];
        expect(steps.filter((step) => /Sort|Hash|Seq Scan/.test(step['Node Type']))).toEqual([]);
        const reads = steps.filter((step) => step['Relation Name'] !== undefined);
        expect(reads.map((step) => [step['Index Name'], step['Actual Rows']])).toEqual([
          ['messaging_recipient_turn', 1],
        ]);
      }
    }
    expect(await long.claim()).toEqual({ claimed: LANES.length, statements: 3 });
  });
});

onMariadb('the heads of 40 lanes on MariaDB', () => {
  test('are the first entries of an index: a few rows are read for each, in one statement', async () => {
    const long = await openLong('mysql', await createMariadbDatabase());
    const runner = long.database.createQueryRunner();
    opened({ close: () => runner.release() });
    const { sql, params } = long.heads;
    const plan: { table: string; Extra: string }[] = await runner.query(`EXPLAIN ${sql}`, [...params]);
    expect(plan.filter(({ Extra }) => /filesort|temporary/.test(Extra))).toEqual([]);
    const read = await mariadbReads(runner)(() => runner.query(sql, [...params]));
    expect(read).toBeGreaterThanOrEqual(LANES.length);
    expect(read).toBeLessThanOrEqual(8 * LANES.length);
    expect(await long.claim()).toEqual({ claimed: LANES.length, statements: 3 });
  });
});
