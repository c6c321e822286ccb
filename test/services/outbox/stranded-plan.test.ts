import { describe, expect, test } from '@jest/globals';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { EndedSessions, LANES, LOOKED_AT } from '../../support/outbox/ended-sessions.js';
import { mariadbReads } from '../../support/storage/rows-read.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

/**
 * The rows that a look may read: the deliveries, the sessions of their lanes, the signs that they wait, and a margin.
 */
const FEW = LOOKED_AT + 20;

/** Sessions on a database of their own. Both are removed after the test. */
async function openEnded(type: 'postgres' | 'mysql', database: { url: string; drop(): Promise<void> }) {
  opened({ close: () => database.drop() });
  const ended = opened(await EndedSessions.open({ type, url: database.url }));
  expect(await ended.storage.store(SessionStore).stranded('wa', LANES[1] ?? '', LOOKED_AT)).toMatchObject({
    items: [{ id: LANES[2] }],
    next: LANES[2],
  });
  return ended;
}

/** A step of an executed PostgreSQL plan. */
interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Step[];
}

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

onPostgres('a look for stranded sessions on PostgreSQL', () => {
  test('reads no session without deliveries, whatever the planner knows about the tables', async () => {
    const ended = await openEnded('postgres', await createPostgresDatabase());
    const runner = ended.database.createQueryRunner();
    opened({ close: () => runner.release() });
    // As our writes are planned.
    for (const plan of ['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan'])
      await runner.query(`SET enable_${plan} = off`);
    for (const known of [false, true]) {
      if (known) await runner.query('ANALYZE');
      for (const plans of ['force_custom_plan', 'force_generic_plan']) {
        await runner.query(`SET plan_cache_mode = ${plans}`);
        let rows = 0;
        for (const { sql, params } of ended.look) {
          const given = params.map((value) => (typeof value === 'string' ? `'${value}'` : value)).join(', ');
          await runner.query(`PREPARE look AS ${sql}`);
          const explained = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE look(${given})`;
          const [row]: { 'QUERY PLAN': [{ Plan: Step }] }[] = await runner.query(explained);
          await runner.query('DEALLOCATE look');
          for (const step of row ? stepsOf(row['QUERY PLAN'][0].Plan) : []) {
            if (step['Relation Name'] === undefined) continue;
            rows += ((step['Rows Removed by Filter'] ?? 0) + step['Actual Rows']) * step['Actual Loops'];
          }
        }
        expect(rows).toBeGreaterThan(LOOKED_AT);
        expect(rows).toBeLessThan(FEW);
      }
    }
  });
});

onMariadb('a look for stranded sessions on MariaDB', () => {
  test('reads no session without deliveries', async () => {
    const ended = await openEnded('mysql', await createMariadbDatabase());
    const runner = ended.database.createQueryRunner();
    opened({ close: () => runner.release() });
    const read = await mariadbReads(runner)(async () => {
      for (const { sql, params } of ended.look) await runner.query(sql, [...params]);
    });
    expect(read).toBeGreaterThan(LOOKED_AT);
    expect(read).toBeLessThan(FEW);
  });
});
