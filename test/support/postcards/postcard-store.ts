import type { Dialect } from '../../../src/storage/dialect.js';
import type { Database } from '../../../src/storage/engine/database.js';
import { type Row, rowsOf, write, writeAll } from '../../../src/storage/engine/operation.js';
import { integerOf, optionalText, shapeOf, textOf } from '../../../src/storage/engine/rows.js';
import type { SchemaGroup } from '../../../src/storage/schema/versions.js';

/** A card that was printed. */
export interface Postcard {
  readonly messageId: string;
  readonly accountId: string;
  readonly number: string;
  readonly text: string;
  /** Undefined on cards of the first version. */
  readonly stamp: string | undefined;
  /** Milliseconds since the epoch. */
  readonly printedAt: number;
}

const SHAPE = shapeOf('message_id account_id number body stamp', 'printed_at');

/** Keeps printed cards. */
export class PostcardStore {
  constructor(private readonly db: Database) {}

  /** Stores cards; a card of the same message is stored once. */
  async print(cards: readonly Postcard[]): Promise<void> {
    const rows = cards.map((card) => [
      card.messageId,
      card.accountId,
      card.number,
      card.text,
      card.stamp,
      card.printedAt,
    ]);
    const insert = this.db.dialect.insertRows({
      table: 'messaging_postcard',
      shape: SHAPE,
      rows,
      onDuplicate: ['message_id'],
    });
    await this.db.write(() => writeAll([insert], true));
  }

  /** The cards of an account, oldest first. */
  async printed(accountId: string): Promise<readonly Postcard[]> {
    const columns = Object.keys(SHAPE).join(', ');
    const select = `SELECT ${columns} FROM messaging_postcard WHERE account_id = ? ORDER BY printed_at, message_id`;
    return (await this.db.read(() => rowsOf(select, accountId))).map(toPostcard);
  }

  /** Removes at most `limit` cards printed before `before`. */
  purge(before: number, limit: number): Promise<number> {
    const { dialect } = this.db;
    return this.db.write(() =>
      write(dialect.deleteFirst('messaging_postcard', 'message_id', 'printed_at'), before, limit),
    );
  }
}

function toPostcard(row: Row): Postcard {
  return {
    messageId: textOf(row, 'message_id'),
    accountId: textOf(row, 'account_id'),
    number: textOf(row, 'number'),
    text: textOf(row, 'body'),
    stamp: optionalText(row, 'stamp'),
    printedAt: integerOf(row, 'printed_at'),
  };
}

function firstTables(dialect: Dialect): string[] {
  const [id, text, integer] = (['id', 'text', 'integer'] as const).map((type) => dialect.columnType(type));
  return [
    `CREATE TABLE messaging_postcard (
      message_id ${id} NOT NULL PRIMARY KEY, account_id ${id} NOT NULL, number ${id} NOT NULL, body ${text} NOT NULL,
      printed_at ${integer} NOT NULL)${dialect.clustered}`,
    'CREATE INDEX messaging_postcard_account ON messaging_postcard (account_id, printed_at)',
  ];
}

const TABLES: SchemaGroup = {
  name: 'postcards',
  versions: [
    { name: '0001-initial', up: firstTables },
    {
      name: '0002-stamps',
      up: (dialect) => [`ALTER TABLE messaging_postcard ADD COLUMN stamp ${dialect.columnType('text')}`],
    },
  ],
};

/** Its tables up to a version. */
export function postcardTables(versions = TABLES.versions.length): SchemaGroup {
  return { ...TABLES, versions: TABLES.versions.slice(0, versions) };
}
