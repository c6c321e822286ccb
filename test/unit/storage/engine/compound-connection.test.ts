import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import {
  compound,
  compoundConnection,
  type MysqlConnection,
} from '../../../../src/storage/engine/compound-connection.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A connection of a driver, the statements that it was sent, and its end. */
function open(answer: (done: (error: unknown, result: unknown) => void) => void) {
  const sent: string[] = [];
  const ends: string[] = [];
  const send =
    (method: string): MysqlConnection['query'] =>
    (sql, _params, done) => {
      sent.push(`${method}: ${sql}`);
      answer(done);
    };
  const driver = { query: send('query'), execute: send('execute'), destroy: () => ends.push('destroyed') };
  return { sent, ends, connection: compoundConnection(driver, (statement) => statement) };
}

const INSERT = { sql: 'INSERT', params: ['a'] };
const DEBIT = { sql: 'DEBIT', params: [1] };
const written = { affectedRows: 2 };

test('the last statement of a transaction is sent together with its COMMIT, even if it is one of several', async () => {
  const { sent, connection } = open((done) => done(null, written));
  await connection.begin(true);
  await connection.runAndCommit?.(INSERT).commit;
  await connection.runAndCommit?.(compound([DEBIT, INSERT]) ?? INSERT).commit;
  expect(sent).toEqual([
    'query: BEGIN NOT ATOMIC SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION; END',
    'query: BEGIN NOT ATOMIC INSERT; COMMIT; END',
    'query: BEGIN NOT ATOMIC BEGIN DEBIT; INSERT; END; COMMIT; END',
  ]);
});

test('statements that may be too long for one packet are sent one by one', async () => {
  const large = { sql: 'LARGE', params: ['x'.repeat(250_000), 1] };
  expect(compound([large, INSERT])).toBeUndefined();
  const { sent, connection } = open((done) => done(null, written));
  const { result, commit } = connection.runAndCommit?.(large) ?? {};
  await expect(result).resolves.toEqual({ rows: [], affected: 2 });
  await commit;
  expect(sent).toEqual(['query: BEGIN NOT ATOMIC LARGE; COMMIT; END']);
});

test('only a complete transaction is prepared, and never a long one', async () => {
  const { sent, connection } = open((done) => done(null, [[{ paid: 1 }], written]));
  await expect(connection.run({ ...DEBIT, autocommit: true })).resolves.toMatchObject({ rows: [{ paid: 1 }, written] });
  await connection.run(DEBIT);
  await connection.run({ sql: 'x'.repeat(6001), params: [], autocommit: true });
  expect(sent.map((each) => each.slice(0, 10))).toEqual(['execute: D', 'query: DEB', 'query: xxx']);
});

test('an error of the driver is thrown by the statement that caused it', async () => {
  const { connection } = open((done) => done(Object.assign(new Error(), { code: 'ER_LOCK_DEADLOCK' }), undefined));
  const { result, commit } = connection.runAndCommit?.(INSERT) ?? {};
  await expect(result).rejects.toMatchObject({ code: 'ER_LOCK_DEADLOCK' });
  await expect(commit).rejects.toMatchObject({ code: 'ER_LOCK_DEADLOCK' });
});

test.each(['begin', 'run', 'commit', 'rollback'] as const)(
  'if a database does not answer, the request fails and its connection is closed: %s',
  async (step) => {
    const { ends, connection } = open(() => undefined);
    const asked = { ...connection, begin: () => connection.begin(true), run: () => connection.run(INSERT) }[step]();
    const failed = expect(asked).rejects.toThrow('Timeout');
    await jest.advanceTimersByTimeAsync(27_000);
    await failed;
    expect(ends).toEqual(['destroyed']);
  },
);
