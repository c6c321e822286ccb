import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { PostgresDialect } from '../../../src/storage/typeorm/dialects/postgres-dialect.js';
import type { StorageConnection } from '../../../src/storage/typeorm/engine/connection.js';
import type { Operation } from '../../../src/storage/typeorm/engine/operation.js';
import { PooledExecutor } from '../../../src/storage/typeorm/engine/pooled-executor.js';
import { settled } from '../../support/settled.js';

type Step = 'begin' | 'run' | 'commit' | 'rollback';

/** A PostgreSQL connection that does what the test says: each step may fail, so many times. */
function scripted(
  faults: Partial<Record<Step, Error[]>> = {},
  pipelined = false,
  connect: () => Promise<unknown> = async () => ({}),
) {
  const steps: string[] = [];
  const step = async (name: Step) => {
    steps.push(name);
    const fault = faults[name]?.shift();
    if (fault) throw fault;
    return { rows: [], affected: 0 };
  };
  class ScriptedDialect extends PostgresDialect {
    override connection(): StorageConnection {
      return {
        begin: () => step('begin'),
        run: () => step('run'),
        ...(pipelined && { runAndCommit: () => ({ result: step('run'), commit: step('commit') }) }),
        commit: () => step('commit'),
        rollback: () => step('rollback'),
        discard: () => steps.push('discard'),
      };
    }
  }
  const runner = { connect, release: async () => void steps.push('release') };
  const dataSource: DataSource = Object.create(new DataSource({ type: 'postgres' }), {
    createQueryRunner: { value: () => runner },
  });
  const executor = new PooledExecutor(dataSource, new ScriptedDialect());
  const write = (operation = work) =>
    executor.write(operation).catch((error: unknown) => Reflect.get(Object(error), 'code'));
  return { steps, write };
}

function* work(): Operation<string> {
  yield { sql: 'UPDATE', params: [], endsTransaction: true };
  return 'done';
}

function* aloneWork(): Operation<string> {
  yield { sql: 'UPDATE', params: [], autocommit: true };
  return 'done';
}

const lost = () => new Error('Query read timeout');
const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' });

test.each<[DataSourceOptions, number]>([
  [{ type: 'postgres' }, 10],
  [{ type: 'postgres', poolSize: 40 }, 40],
  [{ type: 'postgres', poolSize: 40, extra: { max: 4 } }, 4],
  [{ type: 'mysql', extra: { connectionLimit: 6 } }, 6],
])('%j: as many connections as its pool has', (options, connections) => {
  expect(new PooledExecutor(new DataSource(options), new PostgresDialect()).maxTransactions).toBe(connections);
});

describe('a transaction on a connection of the pool', () => {
  test.each(['57014', '57P01', '25P03', '25P04', '55P03'])(
    'that the server cuts off (%s) may work later',
    async (code) => {
      const cut = scripted({ run: [Object.assign(new Error('canceling statement'), { code })] });
      expect(await cut.write()).toBe('error.storage_unavailable');
    },
  );

  test('goes back to it when all is well, and when its work was undone', async () => {
    const well = scripted();
    expect([await well.write(), well.steps]).toEqual(['done', ['begin', 'run', 'commit', 'release']]);
    const undone = scripted({ run: [lost()] });
    expect([await undone.write(), undone.steps]).toEqual([
      'error.storage_unavailable',
      ['begin', 'run', 'rollback', 'release'],
    ]);
  });

  // Otherwise the next one on this connection would go on in a transaction that is still open, and commit it.
  test.each([
    { faults: { begin: [lost()] }, steps: ['begin'] },
    { faults: { commit: [lost()] }, steps: ['begin', 'run', 'commit'] },
    { faults: { run: [lost()], rollback: [lost()] }, steps: ['begin', 'run', 'rollback'] },
  ])('never goes back with an end that nobody knows: $steps', async ({ faults, steps: expected }) => {
    const { steps, write } = scripted(faults);
    expect(await write()).toBe('error.storage_unavailable');
    expect(steps).toEqual([...expected, 'discard', 'release']);
  });

  test('is repeated after a deadlock, three times at the most; after a lost connection never', async () => {
    const once = scripted({ run: [deadlock()] });
    expect(await once.write()).toBe('done');
    const always = scripted({ run: Array.from({ length: 9 }, deadlock) });
    expect(await always.write()).toBe('error.storage_unavailable');
    expect(always.steps.filter((step) => step === 'begin')).toHaveLength(4);
    const cut = scripted({ commit: [lost()] });
    await cut.write();
    expect(cut.steps.filter((step) => step === 'begin')).toHaveLength(1);
  });

  test('ends with its last statement where both can go together', async () => {
    const well = scripted({}, true);
    expect([await well.write(), well.steps]).toEqual(['done', ['begin', 'run', 'commit', 'release']]);
    const refused = scripted({ run: [deadlock()] }, true);
    expect(await refused.write()).toBe('done');
    expect(refused.steps).toEqual([
      ...['begin', 'run', 'commit', 'rollback', 'release'],
      ...['begin', 'run', 'commit', 'release'],
    ]);
    const cut = scripted({ commit: [lost()] }, true);
    expect([await cut.write(), cut.steps]).toEqual([
      'error.storage_unavailable',
      ['begin', 'run', 'commit', 'discard', 'release'],
    ]);
  });

  test.each([false, true])('is one statement where that is alone, pipelined: %s', async (pipelined) => {
    const well = scripted({}, pipelined);
    expect([await well.write(aloneWork), well.steps]).toEqual(['done', ['run', 'release']]);
    const refused = scripted({ run: [deadlock()] }, pipelined);
    expect(await refused.write(aloneWork)).toBe('done');
    expect(refused.steps).toEqual(['run', 'rollback', 'release', 'run', 'release']);
    const cut = scripted({ run: [lost()], rollback: [lost()] }, pipelined);
    expect([await cut.write(aloneWork), cut.steps]).toEqual([
      'error.storage_unavailable',
      ['run', 'rollback', 'discard', 'release'],
    ]);
  });

  test('that never came to a statement leaves its connection alone', async () => {
    const { steps, write } = scripted();
    // biome-ignore lint/correctness/useYield: it has nothing to say to the database
    const idle = function* (): Operation<string> {
      return 'nothing to do';
    };
    // biome-ignore lint/correctness/useYield: it fails before it has said anything
    const failing = function* (): Operation<string> {
      throw deadlock();
    };
    expect([await write(idle), steps]).toEqual(['nothing to do', ['release']]);
    await write(failing);
    expect(steps).toEqual(['release', 'release', 'release', 'release', 'release']);
  });
});

describe('a pool of which no connection is free', () => {
  afterEach(() => void jest.useRealTimers());

  test('is waited for 5 s; a connection that comes after that goes back to it unused', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    let give: (connection: unknown) => void = () => undefined;
    const { steps, write } = scripted({}, false, () => new Promise((resolve) => (give = resolve)));
    let answer: unknown = 'none yet';
    void write().then((given) => (answer = given));
    await jest.advanceTimersByTimeAsync(14_999);
    expect([answer, steps]).toEqual(['none yet', []]);
    await jest.advanceTimersByTimeAsync(1);
    expect([answer, steps]).toEqual(['error.storage_unavailable', []]);
    give({});
    await settled();
    expect(steps).toEqual(['release']);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('and gives one in time is none', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    let give: (connection: unknown) => void = () => undefined;
    const { steps, write } = scripted({}, false, () => new Promise((resolve) => (give = resolve)));
    const answer = write();
    await jest.advanceTimersByTimeAsync(14_999);
    give({});
    expect([await answer, steps]).toEqual(['done', ['begin', 'run', 'commit', 'release']]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
