import { describe, expect, test } from '@jest/globals';
import { LaneTurns } from '../../../../src/outbox/accept/lane-turns.js';
import { insertSends } from '../../../../src/outbox/accept/send-inserts.js';
import { PostgresDialect } from '../../../../src/storage/postgres/postgres-dialect.js';
import { SqliteDialect } from '../../../../src/storage/sqlite/sqlite-dialect.js';
import { aSend, phone, range } from '../../../contract/storage/fixtures.js';

test.each([
  ['PostgreSQL', new PostgresDialect()],
  ['SQLite', new SqliteDialect()],
])(
  'sends without metadata insert no column for it on %s, and one send with metadata adds it to its batch',
  (_name, dialect) => {
    const insertOf = (...metadata: (Record<string, string> | undefined)[]) => {
      const sends = metadata.map((each, index) => aSend(index, { metadata: each }));
      return insertSends(dialect, sends, new LaneTurns())[0]?.sql;
    };
    expect(insertOf(undefined, undefined)).not.toContain('metadata');
    expect(insertOf(undefined, { order: '4711' })).toContain('metadata');
  },
);

describe.each([
  ['PostgreSQL', new PostgresDialect()],
  ['SQLite', new SqliteDialect()],
] as const)('a large send on %s', (_name, dialect) => {
  test.each([
    ['none', {}],
    ['one', { refused: 'opted_out' }],
  ])('is indexed by number in the order of numbers, of which %s is refused', (_count, refused) => {
    const recipients = range(100).map((index) => ({ number: phone((index * 37) % 100), units: 1 }));
    const [first, ...others] = recipients;
    if (!first) throw new Error('There are no recipients.');
    const send = aSend(1, { recipients: [{ ...first, ...refused }, ...others] });
    const statements = insertSends(dialect, [send], new LaneTurns());
    const byNumber = statements.filter(({ sql }) => sql.includes('INTO messaging_sent_to'));
    expect(byNumber.map(({ sql }) => sql)).toEqual([expect.stringMatching(/ORDER BY v\.number LIMIT \d+\) s$/)]);
  });
});

test('a send that SQLite indexes by number with several statements is sorted as a whole', () => {
  const dialect = new SqliteDialect();
  const count = 2.5 * dialect.maxRows;
  const recipients = range(count).map((index) => ({ number: phone((index * 37) % count), units: 1 }));
  const statements = insertSends(dialect, [aSend(1, { recipients })], new LaneTurns());
  const byNumber = statements.filter(({ sql }) => sql.includes('INTO messaging_sent_to'));
  const slices: (readonly (readonly [string, number])[])[] = byNumber.map(({ params }) =>
    JSON.parse(String(params.at(-1))),
  );
  expect(slices.map(({ length }) => length)).toEqual([dialect.maxRows, dialect.maxRows, dialect.maxRows / 2]);
  const numbers = slices.flat().map(([number]) => number);
  expect(numbers.join(' ') === range(count).map(phone).join(' ')).toBe(true);
});
