import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { runnerConnection } from '../../../../src/storage/engine/connection.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A connection of a driver that waits forever, and its end. */
function silent(answer: Promise<unknown> = new Promise(() => undefined)) {
  const ends: string[] = [];
  const ask = () => answer;
  const runner: QueryRunner = Object.create(new DataSource({ type: 'mysql' }), {
    query: { value: ask },
    startTransaction: { value: ask },
    commitTransaction: { value: ask },
    rollbackTransaction: { value: ask },
  });
  const driver = { destroy: () => ends.push('destroyed') };
  return { ends, connection: runnerConnection(runner, driver, (statement) => statement) };
}

const SELECT = { sql: 'SELECT 1', params: [] };

test.each(['begin', 'run', 'commit', 'rollback'] as const)(
  'if a database does not answer, the request fails and its connection is closed: %s',
  async (step) => {
    const { ends, connection } = silent();
    const asked = { ...connection, begin: () => connection.begin(true), run: () => connection.run(SELECT) }[step]();
    const failed = expect(asked).rejects.toThrow('Timeout');
    await jest.advanceTimersByTimeAsync(25_000);
    expect(ends).toEqual([]);
    await jest.advanceTimersByTimeAsync(2000);
    await failed;
    expect(ends).toEqual(['destroyed']);
  },
);

test('a statement without a time limit is waited for', async () => {
  let answer: (value: unknown) => void = () => undefined;
  const { ends, connection } = silent(
    new Promise((resolve) => {
      answer = resolve;
    }),
  );
  const altered = connection.run({ ...SELECT, noTimeout: true });
  await jest.advanceTimersByTimeAsync(3_600_000);
  answer({ raw: [], affected: 0 });
  await expect(altered).resolves.toEqual({ rows: [], affected: 0 });
  expect(ends).toEqual([]);
});

test('an answer in time leaves nothing behind', async () => {
  const { ends, connection } = silent(Promise.resolve({ raw: [], affected: 0 }));
  await connection.run(SELECT);
  expect([jest.getTimerCount(), ends]).toEqual([0, []]);
});
