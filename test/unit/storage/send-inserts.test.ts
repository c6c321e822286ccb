import { describe, expect, test } from '@jest/globals';
import { LaneTurns } from '../../../src/outbox/accept/lane-turns.js';
import { insertSends } from '../../../src/outbox/accept/send-inserts.js';
import { PostgresDialect } from '../../../src/storage/postgres/postgres-dialect.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';
import { aSend, phone, range } from '../../../src/testing/storage-contract/fixtures.js';

test.each([
  ['PostgreSQL', new PostgresDialect()],
  ['SQLite', new SqliteDialect()],
])('sends without metadata cost no column for it on %s, and one with it gives it to its batch', (_name, dialect) => {
  const insertOf = (...metadata: (Record<string, string> | undefined)[]) => {
    const sends = metadata.map((each, index) => aSend(index, { metadata: each }));
    return insertSends(dialect, sends, new LaneTurns())[0]?.sql;
  };
  expect(insertOf(undefined, undefined)).not.toContain('metadata');
  expect(insertOf(undefined, { order: '4711' })).toContain('metadata');
});

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
    const rows: [string, number][] = byNumber.flatMap(({ params }) => JSON.parse(String(params.at(-1))));
    expect(rows.map(([number]) => number)).toEqual(range(100).map(phone));
    expect(rows.map(([, position]) => send.recipients[position]?.number)).toEqual(range(100).map(phone));
  });
});
