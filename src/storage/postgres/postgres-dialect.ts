import type { QueryRunner } from 'typeorm';
import { MessagingOptionsError } from '../../common/errors.js';
import { type Change, type ColumnType, Dialect, type IfLocked } from '../dialect.js';
import {
  BEGIN,
  type PostgresConnection,
  planNameOf,
  preparedConnection,
  type StorageConnection,
} from '../engine/connection.js';
import { type Pooler, STATEMENT_MS } from '../engine/data-source.js';
import { type Operation, rowsOf, type Statement } from '../engine/operation.js';
import {
  type FirstRows,
  type PlacesUpdate,
  type RowShape,
  type RowsDelete,
  type RowsUpdate,
  textOf,
} from '../engine/rows.js';
import { lowAfterDebit } from '../low-after.js';
import {
  ADVISORY,
  atOnce,
  defineOnline,
  exclusively,
  explainingRights,
  inOneTransaction,
  unlessRun,
} from './postgres-schema.js';
import { DEFAULTS, type PostgresServer } from './postgres-server.js';

const CAST = { id: 'text', text: 'text', integer: 'bigint' } as const;

/**
 * The longest statement that is prepared, in characters. Commits with several large sends are longer. Their text
 * depends on the number of sends, so a connection would keep hundreds of plans, each of half a megabyte, and rarely use
 * them again.
 */
const KEPT_CHARACTERS = 4500;

/** PostgreSQL from version 12. The dialect of an engine that speaks PostgreSQL's protocol may extend it. */
export class PostgresDialect extends Dialect {
  override readonly driver: string = 'postgres';
  override readonly lockTimeout: readonly string[] = ["SET LOCAL lock_timeout = '5s'"];

  override readonly beforeCheck: readonly string[] = ['SET LOCAL statement_timeout = 0'];

  override readonly browsesInTransactions: boolean = true;
  /** The statements that begin a transaction of ours, in one text. */
  protected readonly begin: string = BEGIN;
  protected override readonly rangesTogether: number = Number.MAX_SAFE_INTEGER;

  override readonly now: string | undefined = 'CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)';

  override readonly tables: string = `SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_name LIKE 'messaging!_%' ESCAPE '!'`;

  /** The connections whose settings have been made. */
  private readonly prepared = new WeakSet<object>();
  private readonly plans = new Map<string, { readonly sql: string; readonly name: string }>();

  /**
   * @param server the settings of the connections. Default: those of a server without settings of its own
   * @param pooler `transaction`: nothing may be set on a connection, because another client may get it for the next
   * transaction
   * @param isOurs whether only this package uses the DataSource
   */
  constructor(
    private readonly server: PostgresServer = DEFAULTS,
    private readonly pooler?: Pooler,
    private readonly isOurs = false,
  ) {
    super();
  }

  /** @param connection the connection of `pg`, from TypeORM's driver */
  override connection(_runner: QueryRunner, connection: PostgresConnection): StorageConnection {
    if (this.isOurs && !this.pooler && !this.prepared.has(connection)) {
      this.prepared.add(connection);
      // This is for statements outside a transaction. An error is ignored, because on a lost connection those
      // statements fail too.
      connection.query('SET jit = off').catch(() => undefined);
    }
    const bound = this.pooler && this.isOurs ? `; SET LOCAL statement_timeout = ${STATEMENT_MS}` : '';
    return preparedConnection(connection, (statement) => this.native(statement), `${this.begin}${bound}`);
  }

  override columnType(type: ColumnType): string {
    if (type === 'integer') return 'bigint';
    if (type === 'small') return 'smallint';
    if (type === 'serial') return 'bigint GENERATED ALWAYS AS IDENTITY';
    if (type === 'bytes') return 'bytea';
    return type === 'text' ? 'text' : 'text COLLATE "C"';
  }

  override upkeep(table: string, settings: Readonly<Record<string, number>>): readonly string[] {
    const set = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
    return [`ALTER TABLE ${table} SET (${set.join(', ')})`];
  }

  override native({ sql, params }: Statement): Statement & { readonly name: string } {
    let plan = this.plans.get(sql);
    if (plan === undefined) {
      let place = 0;
      const text = sql.replace(/\?/g, () => `$${++place}`);
      plan = { sql: text, name: this.keepsPlan(text) ? planNameOf(text) : '' };
      if (this.plans.size < 500) this.plans.set(sql, plan);
    }
    return { ...plan, params };
  }

  private keepsPlan(sql: string): boolean {
    return this.pooler === undefined && sql.length <= KEPT_CHARACTERS;
  }

  /**
   * Uses `jsonb`, which is parsed only once. With `json`, each `->>` would parse the text again, which was half the
   * cost of an insert.
   */
  override rows(shape: RowShape): string {
    const columns = Object.entries(shape).map(([name, type], index) => `(e->>${index})::${CAST[type]} AS ${name}`);
    return `(SELECT ${columns.join(', ')} FROM jsonb_array_elements(?::jsonb) e) v`;
  }

  override numberedRecipients(withVars: boolean): string {
    return (
      `(SELECT place - 1 AS position, item->>0 AS number, (item->>1)::bigint AS units${withVars ? ', item->>2 AS vars' : ''} ` +
      'FROM jsonb_array_elements(?::jsonb) WITH ORDINALITY AS t(item, place)) v'
    );
  }

  /** Uses an array instead of a subquery, because the planner could join a subquery in any order. */
  override among(): string {
    return '= ANY (ARRAY(SELECT jsonb_array_elements_text(?::jsonb)))';
  }

  /**
   * Makes the planner use a look-up. Without this it may join in the other order: it then reads the whole table by its
   * index and compares each row with each row of the other side. It does so if the table was nearly empty or not
   * analysed when the plan was made, even if the table has grown since. So the condition on the first column of the
   * index is written in a form that the planner does not recognise as a plain equality; only a look-up can use it. The
   * join must have no other condition on a column of the index with given values, because the planner would read the
   * whole index for that one too.
   */
  override lookUp(on: string): string {
    return on.replace(/(\w+(?:\.\w+)?) = (\w+\.\w+)/, '$1 = ANY (ARRAY[$2])');
  }

  override updateRows(update: RowsUpdate): Statement {
    return super.updateRows({ ...update, on: this.lookUp(update.on) });
  }

  override deleteRows(deletion: RowsDelete): Statement {
    return super.deleteRows({ ...deletion, on: this.lookUp(deletion.on) });
  }

  override lock(alias: string, ifLocked: IfLocked, strength = 'update'): string {
    return ` FOR ${strength.toUpperCase()} OF ${alias}${ifLocked === 'skip' ? ' SKIP LOCKED' : ''}`;
  }

  /**
   * A query does not see an uncommitted row of another transaction, but an insert of the same id waits for it. So each
   * transaction takes an advisory lock on an id before it inserts a row with that id.
   */
  override *heldIds(table: string, ids: readonly string[], ifLocked: IfLocked): Operation<readonly string[]> {
    const given = 'jsonb_array_elements_text(?::jsonb) AS v(id)';
    const number = `hashtextextended(v.id, ${ADVISORY})`;
    const sql =
      ifLocked === 'wait'
        ? `SELECT pg_advisory_xact_lock(${number}) FROM ${given}`
        : `SELECT v.id FROM ${given} WHERE EXISTS (SELECT FROM ${table} a WHERE ${this.lookUp('a.id = v.id')}) OR NOT pg_try_advisory_xact_lock(${number})`;
    const rows = yield* rowsOf(sql, JSON.stringify([...ids].sort()));
    return ifLocked === 'wait' ? [] : rows.map((row) => textOf(row, 'id'));
  }

  /** Uses LATERAL for each group, because for a join the planner may choose an order that reads the whole table. */
  override lockFirsts({ columns, table, group, order }: FirstRows): string {
    const inGroup = Object.keys(group).map((column) => `r.${column} = v.${column}`);
    return `SELECT f.* FROM ${this.rows(group)} CROSS JOIN LATERAL (
      SELECT ${columns} FROM ${table} r WHERE ${inGroup.join(' AND ')}
        ORDER BY ${order.map((column) => `r.${column}`).join(', ')} LIMIT 1${this.lock('r', 'wait')}) f`;
  }

  override ofEach(query: string, shape: RowShape, rows: readonly (readonly unknown[])[]): Statement {
    const sql = `SELECT f.* FROM ${this.rows(shape)} CROSS JOIN LATERAL (${query}) f`;
    return { sql, params: [JSON.stringify(rows)] };
  }

  override readonly place: string = ', r.ctid AS place';

  /** Updates rows by `ctid`. This needs no index, and only six bytes for each row instead of a key. */
  override readonly updatePlaces: Dialect['updatePlaces'] = updateByCtid;

  /** Adds an alias, because a subquery needs one before version 16. */
  override member(query: string): string {
    return `(${query})`;
  }

  /** Combines the statements as data-modifying `WITH` queries of one statement. */
  override together(statements: readonly Statement[]): readonly Statement[] {
    if (statements.length < 2) return statements;
    const parts = statements.map(({ sql }, index) => `w${index} AS (${sql} RETURNING 1)`);
    const counts = statements.map((_, index) => `(SELECT count(*) FROM w${index})`);
    const sql = `WITH ${parts.join(', ')} SELECT ${counts.join(' + ')} AS written`;
    return [{ sql, params: statements.flatMap(({ params }) => params) }];
  }

  override readonly ifPaid: Dialect['ifPaid'] = (spent, inserts) => this.paid(spent, inserts);

  /**
   * See `Dialect.ifPaid`. The debit itself needs no condition on the balance, because `locked` has locked the row and
   * checked the balance of its newest version.
   */
  private paid(spent: readonly (readonly [string, number])[], inserts: readonly Statement[]): Statement {
    const [first, ...others] = spent;
    const debits = first && others.length === 0 ? this.oneDebit(...first) : this.manyDebits(spent);
    const paidFor = inserts.map(({ sql }, index) => `w${index} AS (${sql} WHERE (SELECT paid FROM asked))`);
    return {
      ...debits,
      sql: `WITH ${debits.sql}, ${paidFor.join(', ')} SELECT paid FROM asked`,
      params: [...debits.params, ...inserts.flatMap(({ params }) => params)],
    };
  }

  /**
   * Makes a debit that runs without BEGIN and COMMIT, whose answers cost a tenth of the rate under load. So our planner
   * settings do not apply. But the planner chooses a sequential scan of the accounts only while there are few, and each
   * commit writes to them, so the server soon analyses the table and drops that plan.
   */
  private oneDebit(accountId: string, units: number): Statement {
    const sql = `locked AS (SELECT a.id FROM messaging_account a WHERE a.id = ? AND a.balance >= ?${this.lock('a', 'skip', 'no key update')}),
      asked AS (SELECT EXISTS (SELECT FROM locked) AS paid),
      debit AS (UPDATE messaging_account SET low = ${lowAfterDebit('?')}, balance = balance - ?
        WHERE id = ? AND (SELECT paid FROM asked))`;
    const params = [accountId, units, units, units, accountId];
    return this.server.isReadCommitted ? { sql, params, autocommit: true } : { sql, params, endsTransaction: true };
  }

  private manyDebits(spent: readonly (readonly [string, number])[]): Statement {
    const sql = `v AS (SELECT * FROM ${this.rows({ account_id: 'id', spent: 'integer' })}),
      locked AS (SELECT a.id FROM v JOIN messaging_account a ON ${this.lookUp('a.id = v.account_id')} WHERE a.balance >= v.spent
        ORDER BY a.id${this.lock('a', 'skip', 'no key update')}),
      asked AS (SELECT (SELECT count(*) FROM locked) = (SELECT count(*) FROM v) AS paid),
      debit AS (UPDATE messaging_account SET low = ${lowAfterDebit('v.spent')}, balance = balance - v.spent FROM v
        WHERE ${this.lookUp('id = v.account_id')} AND (SELECT paid FROM asked))`;
    return { sql, params: [JSON.stringify(spent)], endsTransaction: true };
  }

  /** If the work fails, the rollback to the savepoint restores the setting. */
  override keepingLockTimeout<T>(work: Operation<T>): Operation<T> {
    return keeping('lock_timeout', work);
  }

  override exclusively(migration: () => Operation<void>): Operation<void> {
    return explainingRights(this.pooler ? inOneTransaction(migration) : exclusively(migration));
  }

  override atOnce(migration: () => Operation<void>): Operation<void> {
    return this.pooler ? migration() : atOnce(migration);
  }

  override define(change: Change): Operation<unknown> {
    if (change.isNew) return unlessRun(super.define(change));
    if (this.pooler) throw new MessagingOptionsError(NEEDS_A_DIRECT_URL);
    return unlessRun(defineOnline(change));
  }
}

const NEEDS_A_DIRECT_URL =
  'Option storage: the schema must be brought up to date, which a pooler in transaction mode prevents: start once with the URL of PostgreSQL itself and without pooler, or run messagingMigrations over it.';

function updateByCtid({ table, set, params, places }: PlacesUpdate): Statement {
  const changes = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
  const sql = `UPDATE ${table} SET ${changes.join(', ')} WHERE ctid = ANY(CAST(? AS tid[]))`;
  return { sql, params: [...params, places] };
}

/** Runs work that changes a setting for its transaction, and then restores the setting. */
function* keeping<T>(setting: string, work: Operation<T>): Operation<T> {
  const [row] = yield* rowsOf('SELECT current_setting(?) AS kept', setting);
  const result = yield* work;
  yield* rowsOf('SELECT set_config(?, ?, true)', setting, row?.kept);
  return result;
}
