import { afterEach, describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import { SCHEMA } from '../../../../src/messaging/schema.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import type { ColumnType } from '../../../../src/storage/dialect.js';
import type { DialectSource } from '../../../../src/storage/dialect-for.js';
import type { Statement } from '../../../../src/storage/engine/operation.js';
import { MysqlDialect } from '../../../../src/storage/mysql/mysql-dialect.js';
import { PostgresDialect } from '../../../../src/storage/postgres/postgres-dialect.js';
import { versionsOf } from '../../../../src/storage/schema/versions.js';
import { SqliteDialect } from '../../../../src/storage/sqlite/sqlite-dialect.js';

/** Makes ids of a type of its own, and records the statements that it rewrites. */
class OtherDialect extends SqliteDialect {
  override readonly driver: string = 'other';
  readonly statements: string[] = [];

  override columnType(type: ColumnType): string {
    return type === 'id' ? 'VARCHAR' : super.columnType(type);
  }

  override native(statement: Statement): Statement {
    this.statements.push(statement.sql);
    return super.native(statement);
  }
}

describe('the option dialect', () => {
  let dataSource: DataSource;

  afterEach(() => dataSource.destroy());

  async function sqlite(): Promise<DataSource> {
    dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    return dataSource;
  }

  /** A DataSource that works as SQLite does and claims another type. */
  async function other(): Promise<DataSource> {
    const source = await sqlite();
    Object.assign(source, { options: { ...source.options, type: 'cockroachdb' } });
    return source;
  }

  async function started(source: DataSource, dialect?: DialectSource): Promise<TypeormStorage> {
    const storage = TypeormStorage.forRoot({ dataSource: source, ...(dialect && { dialect }) }).useFactory();
    await storage.start();
    return storage;
  }

  /** The type of an id column, as the database has it. */
  async function idType(): Promise<unknown> {
    const [column] = await dataSource.query(
      "SELECT type FROM pragma_table_info('messaging_account') WHERE name = 'id'",
    );
    return column?.type;
  }

  test('is used on a DataSource of a known type', async () => {
    const storage = await started(await sqlite(), new OtherDialect());
    expect(await idType()).toBe('VARCHAR');
    await storage.stop();
  });

  test('is used on a DataSource of an unknown type', async () => {
    const dialect = new OtherDialect();
    const storage = await started(await other(), dialect);
    expect(await idType()).toBe('VARCHAR');
    dialect.statements.length = 0;
    expect(await storage.store(AccountStore).findAccount('nobody')).toBeUndefined();
    expect(dialect.statements).toEqual([expect.stringContaining('FROM messaging_account')]);
    expect((await storage.health()).lacks).toEqual([]);
    expect((await storage.examine()).filter(({ todo }) => todo)).toEqual([]);
    await storage.stop();
  });

  test('may be a function, which reads from the server before it makes the dialect', async () => {
    const asked: unknown[] = [];
    const dialect = new OtherDialect();
    const storage = await started(await other(), async (query) => {
      asked.push(await query('SELECT 1 AS one'));
      return dialect;
    });
    expect(asked).toEqual([[{ one: 1 }]]);
    expect(dialect.statements).not.toEqual([]);
    await storage.stop();
  });

  test('is told to migrate by itself if the tables are missing, because messagingMigrations do not know it', async () => {
    const dialect = new OtherDialect();
    const start = TypeormStorage.forRoot({ dataSource: await other(), dialect, migrations: 'check' })
      .useFactory()
      .start();
    await expect(start).rejects.toThrow(/the schema lacks .*: start once with migrations: 'run'\.$/);
  });

  test('may refuse the server', async () => {
    const start = started(await other(), () => {
      throw new MessagingOptionsError('Option storage: version 1 is too old.');
    });
    await expect(start).rejects.toThrow(new MessagingOptionsError('Option storage: version 1 is too old.'));
  });

  test('is refused if the function returns something else', async () => {
    const source: unknown = () => ({ driver: 'other' });
    const start = started(await other(), source as DialectSource);
    await expect(start).rejects.toThrow(
      new MessagingOptionsError(
        'Option storage: the function dialect must return an object of a class that extends Dialect of nestjs-messaging/storage.',
      ),
    );
  });

  test('is named in the error if the type of the DataSource is not supported', async () => {
    await expect(started(await other())).rejects.toThrow(
      new MessagingOptionsError(
        'Option storage: dataSource is of type cockroachdb; better-sqlite3, postgres, mysql and mariadb are supported. For another type give the option dialect (docs/storage.md, Another engine).',
      ),
    );
  });
});

test('a dialect that extends the one of MariaDB has no partial indexes either', () => {
  class OtherMysqlDialect extends MysqlDialect {
    override readonly driver = 'other';
  }
  const server = { collation: 'utf8mb4_bin', lockWait: '', insertWait: '', setup: '', compounds: false, isNode: false };
  const dialect = new OtherMysqlDialect(server);
  const statements = versionsOf(SCHEMA).flatMap(({ up }) => up(dialect));
  expect(statements.filter((sql) => /^CREATE INDEX .* WHERE /s.test(sql))).toEqual([]);
});

test('a dialect that extends the one of PostgreSQL may leave out what only PostgreSQL has', async () => {
  class PlainDialect extends PostgresDialect {
    override readonly driver = 'plain';
    override readonly place = '';
    override readonly updatePlaces = undefined;
    override readonly ifPaid = undefined;
    protected override readonly begin = 'BEGIN';
  }
  const dialect = new PlainDialect();
  expect([dialect.updatePlaces, dialect.ifPaid]).toEqual([undefined, undefined]);
  const sent: unknown[] = [];
  const query = async (sql: unknown) => {
    sent.push(sql);
    return { rows: [], rowCount: 0 };
  };
  const runner = new DataSource({ type: 'better-sqlite3', database: ':memory:' }).createQueryRunner();
  await dialect.connection(runner, { query }).begin(true);
  expect(sent).toEqual(['BEGIN']);
});
