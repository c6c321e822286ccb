import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Clock } from '../../../../src/common/clock.js';
import type { StorageConnection } from '../../../../src/storage/engine/connection.js';
import type { Operation } from '../../../../src/storage/engine/operation.js';
import { PooledDatabase } from '../../../../src/storage/engine/pooled-database.js';
import { PostgresDialect } from '../../../../src/storage/postgres/postgres-dialect.js';
import { settled } from '../../../support/common/settled.js';

type Step = 'begin' | 'run' | 'commit' | 'rollback';

/** A clock whose timers fire at once. It records how long each would have taken. */
class EagerClock extends Clock {
  readonly pauses: number[] = [];
  private at = 0;

  override now = () => this.at;
  override elapsed = () => this.at;

  override after(ms: number, task: () => void): () => void {
    this.pauses.push(ms);
    this.at += ms;
    queueMicrotask(task);
    return () => undefined;
  }
}

/** A PostgreSQL connection that does what the test says: each step may fail this many times. */
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
        ...(pipelined && {
          runAhead: () => step('run'),
          runAndCommit: () => ({ result: step('run'), commit: step('commit') }),
        }),
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
  const clock = new EagerClock();
  const db = new PooledDatabase(dataSource, new ScriptedDialect(), clock, () => 0.5);
  const write = (operation = work) => db.write(operation).catch((error: unknown) => Reflect.get(Object(error), 'code'));
  const read = () => db.read(work).catch((error: unknown) => Reflect.get(Object(error), 'code'));
  return { steps, write, read, clock };
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
const coded = (code: string) => Object.assign(new Error(code), { code });
const deadlock = () => coded('40P01');

test.each<[DataSourceOptions, number]>([
  [{ type: 'postgres' }, 10],
  [{ type: 'postgres', poolSize: 40 }, 40],
  [{ type: 'postgres', poolSize: 40, extra: { max: 4 } }, 4],
  [{ type: 'mysql', extra: { connectionLimit: 6 } }, 6],
])('%j has as many connections as its pool', (options, connections) => {
  expect(new PooledDatabase(new DataSource(options), new PostgresDialect()).maxTransactions).toBe(connections);
});

describe('a transaction on a connection of the pool', () => {
  test.each(['57014', '57P01', '25P03', '25P04', '55P03'])(
    'that the server cuts off (%s) can be retried later',
    async (code) => {
      const cut = scripted({ run: [Object.assign(new Error('canceling statement'), { code })] });
      expect(await cut.write()).toBe('error.storage_unavailable');
    },
  );

  test('goes back to the pool after a success and after a rollback', async () => {
    const well = scripted();
    expect([await well.write(), well.steps]).toEqual(['done', ['begin', 'run', 'commit', 'release']]);
    const undone = scripted({ run: [lost()] });
    expect([await undone.write(), undone.steps]).toEqual([
      'error.storage_unavailable',
      ['begin', 'run', 'rollback', 'release'],
    ]);
  });

  // Otherwise the next transaction on this connection would continue one that is still open, and commit it.
  test.each([
    { faults: { begin: [lost()] }, steps: ['begin'] },
    { faults: { commit: [lost()] }, steps: ['begin', 'run', 'commit'] },
    { faults: { run: [lost()], rollback: [lost()] }, steps: ['begin', 'run', 'rollback'] },
  ])('never goes back if its outcome is unknown: $steps', async ({ faults, steps: expected }) => {
    const { steps, write } = scripted(faults);
    expect(await write()).toBe('error.storage_unavailable');
    expect(steps).toEqual([...expected, 'discard', 'release']);
  });

  test('is repeated after a deadlock, with growing pauses, and never after a lost connection', async () => {
    const once = scripted({ run: [deadlock()] });
    expect([await once.write(), once.clock.pauses]).toEqual(['done', [5]]);
    const always = scripted({ run: Array.from({ length: 20 }, deadlock) });
    expect(await always.write()).toBe('error.storage_unavailable');
    expect(always.steps.filter((step) => step === 'begin')).toHaveLength(12);
    expect(always.clock.pauses).toEqual([5, 10, 20, 40, 80, 100, 100, 100, 100, 100, 100]);
    const cut = scripted({ commit: [lost()] });
    await cut.write();
    expect([cut.steps.filter((step) => step === 'begin'), cut.clock.pauses]).toEqual([['begin'], []]);
  });

  test('is not repeated if the request has little time left', async () => {
    const slow = scripted({ run: Array.from({ length: 20 }, deadlock) });
    slow.clock.after = (_, task) => {
      slow.clock.elapsed = () => 10_000;
      queueMicrotask(task);
      return () => undefined;
    };
    expect(await slow.write()).toBe('error.storage_unavailable');
    expect(slow.steps.filter((step) => step === 'begin')).toHaveLength(2);
  });

  test.each(['40001', '40P01', 'ER_LOCK_DEADLOCK', 'ER_CHECKREAD'])('%s is repeated', async (code) => {
    const once = scripted({ commit: [coded(code)] });
    expect(await once.write()).toBe('done');
  });

  // The server answers the ROLLBACK, and would fail the next transaction too: 2 416 calls were answered 503 in 48 s.
  test.each([
    '25006',
    '57P03',
    '53100',
    '0A000',
    '26000',
    'ER_OPTION_PREVENTS_STATEMENT',
    'ER_READ_ONLY_MODE',
    'ER_UNKNOWN_COM_ERROR',
    'ER_ERROR_DURING_COMMIT',
  ])(
    'on a server that cannot write (%s) closes its connection, so that the next one reaches another server',
    async (code) => {
      const undone = scripted({ run: [coded(code)] });
      expect([await undone.write(), undone.steps]).toEqual([
        'error.storage_unavailable',
        ['begin', 'run', 'rollback', 'discard', 'release'],
      ]);
      const alone = scripted({ run: [coded(code)] });
      expect([await alone.write(aloneWork), alone.steps]).toEqual([
        'error.storage_unavailable',
        ['run', 'rollback', 'discard', 'release'],
      ]);
      const read = scripted({ run: [coded(code)] });
      expect([await read.read(), read.steps]).toEqual(['error.storage_unavailable', ['run', 'discard', 'release']]);
    },
  );

  test.each(['42601', '23505', '57014', '55P03'])('keeps its connection after %s', async (code) => {
    const { steps, write, read } = scripted({ run: [coded(code), coded(code)] });
    await write();
    await read();
    expect(steps).toEqual(['begin', 'run', 'rollback', 'release', 'run', 'release']);
  });

  test('closes its connection if a read returns nothing', async () => {
    const { steps, read } = scripted({ run: [lost()] });
    expect([await read(), steps]).toEqual(['error.storage_unavailable', ['run', 'discard', 'release']]);
  });

  test('sends a statement whose result is not used without waiting for its answer', async () => {
    const both = function* (): Operation<string> {
      yield { sql: 'UPDATE', params: [], isUnread: true };
      yield { sql: 'SELECT', params: [] };
      return 'done';
    };
    const { steps, write } = scripted({}, true);
    expect([await write(both), steps]).toEqual(['done', ['begin', 'run', 'run', 'commit', 'release']]);
    // The statement behind it fails only because the transaction is aborted.
    const aborted = scripted({ run: [deadlock(), coded('25P02')] }, true);
    expect([await aborted.write(both), aborted.clock.pauses]).toEqual(['done', [5]]);
  });

  test('is undone if a statement fails whose answer came after the COMMIT was sent', async () => {
    const last = function* (): Operation<string> {
      yield { sql: 'UPDATE', params: [], isUnread: true };
      return 'done';
    };
    const { steps, write } = scripted({ run: [coded('23505')] }, true);
    expect(await write(last)).toBe('23505');
    expect(steps).toEqual(['begin', 'run', 'commit', 'rollback', 'release']);
  });

  test('ends with its last statement if both can be sent together', async () => {
    const well = scripted({}, true);
    expect([await well.write(), well.steps]).toEqual(['done', ['begin', 'run', 'commit', 'release']]);
    const refused = scripted({ run: [deadlock()] }, true);
    expect(await refused.write()).toBe('done');
    expect(refused.steps).toEqual([
      'begin',
      'run',
      'commit',
      'rollback',
      'release',
      'begin',
      'run',
      'commit',
      'release',
    ]);
    const cut = scripted({ commit: [lost()] }, true);
    expect([await cut.write(), cut.steps]).toEqual([
      'error.storage_unavailable',
      ['begin', 'run', 'commit', 'discard', 'release'],
    ]);
  });

  test.each([false, true])('is a single statement if there is only one, pipelined: %s', async (pipelined) => {
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

  test('that never executed a statement leaves its connection alone', async () => {
    const { steps, write } = scripted();
    // biome-ignore lint/correctness/useYield: it has nothing to say to the database
    const idle = function* (): Operation<string> {
      return 'nothing to do';
    };
    // biome-ignore lint/correctness/useYield: it fails before it has said anything
    const failing = function* (): Operation<string> {
      throw coded('57014');
    };
    expect([await write(idle), steps]).toEqual(['nothing to do', ['release']]);
    await write(failing);
    expect(steps).toEqual(['release', 'release']);
  });
});

describe('a pool without a free connection', () => {
  afterEach(() => void jest.useRealTimers());

  test('is waited for 5 s, and a connection that comes after that goes back to it unused', async () => {
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

  test('causes no error if it gives a connection in time', async () => {
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
