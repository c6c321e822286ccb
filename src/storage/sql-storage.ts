import type { DataSource } from 'typeorm';
import { type Clock, SystemClock } from '../common/clock.js';
import { MessagingOptionsError, StorageUnavailableError } from '../common/errors.js';
import type { DialectSource } from './dialect-for.js';
import { codeOf } from './engine/blame.js';
import { dataSourceFor } from './engine/data-source.js';
import type { Database, StoreClass } from './engine/database.js';
import { databaseFor } from './engine/database-for.js';
import { NO_ANSWER } from './engine/faults.js';
import { rowsOf } from './engine/operation.js';
import { integerOf } from './engine/rows.js';
import { isQueryFailure } from './engine/typeorm-objects.js';
import { examine } from './examine.js';
import { healthOf } from './health.js';
import { MessagingStorage, type StorageFinding, type StorageHealth } from './messaging-storage.js';
import { checkSchema, migrate } from './schema/migrate.js';
import { addedGroups, type SchemaGroup } from './schema/versions.js';
import { refuseSqlite } from './sqlite/sqlite-library.js';
import { checkStorageOptions } from './storage-checks.js';
import { checkTexts } from './text-check.js';

/** Options of the constructor of `TypeormStorage`. */
export interface SqlStorageOptions {
  /**
   * The host's DataSource, or the URL that a DataSource of our own connects to (`sqlite:<path>`, `postgres://…`,
   * `mysql://…`).
   */
  readonly database: DataSource | string;
  /** `run` (default): the start brings our tables up to date; `check`: the start fails if they are not up to date. */
  readonly migrations?: 'run' | 'check' | undefined;
  /**
   * `transaction`: the connections go through a pooler for PostgreSQL in transaction mode, such as PgBouncer. Then no
   * statement is prepared by name, and the statement time-out is set in each transaction. Default: no pooler.
   */
  readonly pooler?: 'transaction' | undefined;
  /**
   * The SQL of another engine: a dialect, or a function that makes one. A DataSource may then be of any type of TypeORM that
   * has a pool of connections. Default: the dialect of SQLite, PostgreSQL or MariaDB, by the type of the DataSource.
   */
  readonly dialect?: DialectSource | undefined;
  /** Measures waits for a lock on SQLite, and pauses before a transaction is repeated. Default: the machine's clock. */
  readonly clock?: Clock | undefined;
}

/** The parts of a started storage. */
interface OpenStorage {
  readonly dataSource: DataSource;
  /** Whether this package has made the DataSource. If so, it also closes it. */
  readonly isOurs: boolean;
  readonly database: Database;
  /** All tables of the storage. */
  readonly groups: readonly SchemaGroup[];
}

/** A storage in SQL through TypeORM. It knows only the tables that it is given. */
export class SqlStorage extends MessagingStorage {
  private opened: OpenStorage | undefined;

  /** @throws MessagingOptionsError for a missing or malformed database, or a wrong value of another option */
  constructor(
    private readonly options: SqlStorageOptions,
    private readonly schema: readonly SchemaGroup[],
  ) {
    super();
    checkStorageOptions(options);
  }

  /** @throws MessagingOptionsError also if the database does not answer, so that the operator reads a plain sentence */
  override async start(added: readonly SchemaGroup[] = []): Promise<void> {
    if (this.opened) return;
    try {
      await this.open([...this.schema, ...addedGroups(added)]);
    } catch (error) {
      // The storage is stopped, because open connections would keep the process alive.
      await this.stop().catch(() => undefined);
      throw startFault(error);
    }
  }

  override async stop(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await opened?.database.stop();
    if (opened?.isOurs) await opened.dataSource.destroy();
  }

  override async serverNow(): Promise<number | undefined> {
    const { database } = this.started;
    const { now } = database.dialect;
    if (now === undefined) return undefined;
    const [row] = await database.read(() => rowsOf(`SELECT ${now} AS now`));
    return row && integerOf(row, 'now');
  }

  override examine(): Promise<readonly StorageFinding[]> {
    const { database, groups } = this.started;
    return examine(database, groups);
  }

  override waiting(): number {
    return this.started.database.waitingWork;
  }

  override health(): Promise<StorageHealth> {
    const { database, groups } = this.started;
    return healthOf(database, groups);
  }

  override store<S extends object>(Store: StoreClass<S>): S {
    return this.started.database.store(Store);
  }

  private get started(): OpenStorage {
    if (!this.opened) throw new Error('The storage is not started.');
    return this.opened;
  }

  private async open(groups: readonly SchemaGroup[]): Promise<void> {
    const { database: source, migrations, pooler, dialect, clock } = this.options;
    const isOurs = typeof source === 'string';
    const dataSource = isOurs ? await dataSourceFor(source, { pooler, existing: migrations === 'check' }) : source;
    if (!dataSource.isInitialized) {
      if (dataSource.options.type === 'better-sqlite3') refuseSqlite();
      await dataSource.initialize();
    }
    const database = await databaseFor(dataSource, clock, isOurs, pooler, dialect).catch(async (error: unknown) => {
      if (isOurs) await dataSource.destroy();
      throw error;
    });
    this.opened = { dataSource, isOurs, database, groups };
    if (migrations === 'check') await database.read(() => checkSchema(groups, dialect !== undefined));
    else await database.migrate(() => migrate(database.dialect, new SystemClock().now(), groups));
    await checkTexts(database);
  }
}

const CANNOT_BE_USED = 'the database cannot be used';

/** Meanings of the error codes of the operating system and of the databases. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/, 'nothing answers at the address of the database'],
  [/^(ENOTFOUND|EAI_)/, 'the host of the database is not known'],
  [/^(28|ER_ACCESS_DENIED)/, 'the database refuses this user or password'],
  [/^(3D|ER_BAD_DB|ER_DBACCESS)/, 'there is no such database for this user'],
  [/^(42501|ER_\w*ACCESS|ER_TABLEACCESS)/, 'this user may not make or read our tables'],
  [
    /^08P01$/,
    'what answers there refuses our settings; before a pooler in transaction mode give pooler: "transaction"',
  ],
  [/^SQLITE_NOTADB/, 'the file is no SQLite database, or an encrypted one: give the path of another or of a new file'],
  [/^SQLITE_CORRUPT/, 'the file of the database is damaged: restore a copy of it'],
  [
    /^SQLITE_(READONLY|CANTOPEN|PERM|AUTH)/,
    'SQLite cannot open the file for writing: let this user write to the file and to its folder, where SQLite keeps its log, and open it without readonly and query_only',
  ],
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, 'another process holds the file for itself: end that process or its transaction'],
  [/^SQLITE_FULL/, 'there is no room for the file of the database: make room on its disk, or raise its max_page_count'],
  [/^SQLITE_IOERR/, 'reading or writing the file of the database fails: put it on a disk of this machine that works'],
  [/^SQLITE_/, 'SQLite cannot use the file'],
  [/^E(ACCES|PERM|NOENT|NOTDIR|ISDIR|EXIST|ROFS|NOSPC|LOOP|NAMETOOLONG)$/, 'the path of the database cannot be opened'],
  [/^([0-9A-Z]{5}$|ER_|PROTOCOL_)/, CANNOT_BE_USED],
];

function meaningOf(code: string | undefined): string | undefined {
  return MEANINGS.find(([codes]) => code !== undefined && codes.test(code))?.[1];
}

function sentenceOf(meaning: string, error: unknown, cause: unknown): MessagingOptionsError {
  return new MessagingOptionsError(`Option storage: ${meaning} (${codeOf(error)}).`, { cause });
}

/**
 * Makes a plain sentence from an error of `start`. The driver's message is left out. The error is kept as the cause
 * only if a database or the operating system has raised it, because an error of a URL parser contains the password.
 */
function startFault(error: unknown): MessagingOptionsError {
  if (error instanceof MessagingOptionsError) return error;
  if (error instanceof StorageUnavailableError) {
    const meaning = meaningOf(codeOf(error.cause));
    const isVague = error.reason.startsWith(NO_ANSWER) && meaning !== undefined && meaning !== CANNOT_BE_USED;
    if (isVague) return sentenceOf(meaning, error.cause, error.cause);
    return new MessagingOptionsError(`Option storage: ${firstLower(error.reason)}`, { cause: error.cause });
  }
  const meaning = meaningOf(codeOf(error));
  // A QueryFailedError is not kept, because it contains the parameters of its statement.
  if (meaning !== undefined) return sentenceOf(meaning, error, isQueryFailure(error) ? undefined : error);
  if (error instanceof Error && error.name === 'DriverPackageNotInstalledError') {
    return new MessagingOptionsError(`Option storage: ${error.message}`);
  }
  const name = error instanceof Error ? error.name : typeof error;
  return new MessagingOptionsError(`Option storage: the database cannot be opened (${codeOf(error) ?? name}).`);
}

function firstLower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
