import { DataSource, type DataSourceOptions, type Table, type TableIndex } from 'typeorm';

/** A row's columns, and `in_<name>` for each partial index, which is 0 if the row is not in the index. */
type Row = Readonly<Record<string, unknown>>;

/** The rows of our tables, by table and key. */
type Snapshot = ReadonlyMap<string, ReadonlyMap<string, Row>>;

/**
 * Finds the b-trees that a step writes, by comparing the rows before it and after it: the table, and each index.
 *
 * - A new row is written to its table and to each index that it belongs to; partial indexes leave rows out.
 * - A changed row is written to its table and to the indexes with a changed column. On PostgreSQL, if any indexed
 *   column has changed, all of its indexes get an entry for the new version of the row; otherwise none does. This
 *   counts every such change as a HOT update, as if the page always had space for it.
 * - A removed row is removed from its table and, except on PostgreSQL, from its indexes.
 *
 * A PostgreSQL table is a heap and counts as one b-tree. Rows that are inserted and removed within the step are not
 * counted.
 */
export class WrittenTrees {
  private constructor(
    private readonly source: DataSource,
    private readonly tables: readonly Table[],
    private readonly isClustered: (table: string) => boolean,
  ) {}

  /** @param url the URL of a database that has the schema */
  static async open(url: string): Promise<WrittenTrees> {
    const source = await dataSourceOf(url);
    const runner = source.createQueryRunner();
    const names = (await runner.getTables()).map(({ name }) => name.replace(/^.*\./, ''));
    const tables = await runner.getTables(names.filter((name) => name.startsWith('messaging_')));
    await runner.release();
    const { type } = source.options;
    const listed = type === 'better-sqlite3' ? await source.query('SELECT name FROM pragma_table_list WHERE wr') : [];
    const clustered = new Set(listed.map(({ name }: { name: string }) => name));
    return new WrittenTrees(source, tables, (table) => type === 'mysql' || clustered.has(table));
  }

  async snapshot(): Promise<Snapshot> {
    const rows = new Map<string, ReadonlyMap<string, Row>>();
    for (const table of this.tables) {
      const within = table.indices.flatMap(({ name, where }) =>
        where ? [`, CASE WHEN ${where} THEN 1 ELSE 0 END AS in_${name}`] : [],
      );
      const found = await this.source.query(`SELECT t.*${within.join('')} FROM ${table.name} t`);
      const key = table.primaryColumns.map(({ name }) => name);
      rows.set(table.name, new Map(found.map((row: Row) => [key.map((name) => row[name]).join(' '), row])));
    }
    return rows;
  }

  /** The names of the b-trees that were written between two snapshots, with one entry for each row. */
  between(before: Snapshot, after: Snapshot): readonly string[] {
    return this.tables.flatMap((table) => {
      const [olds, news] = [before.get(table.name), after.get(table.name)];
      return [...new Set([...(olds?.keys() ?? []), ...(news?.keys() ?? [])])].flatMap((key) =>
        this.ofRow(table, olds?.get(key), news?.get(key)),
      );
    });
  }

  close(): Promise<void> {
    return this.source.destroy();
  }

  /** The b-trees that one row is written to or removed from; none if the row is the same. */
  private ofRow(table: Table, before: Row | undefined, after: Row | undefined): readonly string[] {
    const changed = new Set(
      table.columns.map(({ name }) => name).filter((name) => `${before?.[name]}` !== `${after?.[name]}`),
    );
    if (changed.size === 0) return [];
    const touched = table.indices.filter(({ columnNames }) => columnNames.some((name) => changed.has(name)));
    const key = this.isClustered(table.name) || isRowid(table) ? [] : [`${table.name} by key`];
    if (this.source.options.type === 'postgres') {
      const isNew = after !== undefined && (before === undefined || touched.length > 0);
      return isNew ? [table.name, ...key, ...namesIn(after, table.indices)] : [table.name];
    }
    const isWhole = before === undefined || after === undefined;
    const holding = new Set([...namesIn(before, touched), ...namesIn(after, touched)]);
    return [table.name, ...(isWhole ? key : []), ...holding];
  }
}

/** The names of those indexes that a row is in. */
function namesIn(row: Row | undefined, indexes: readonly TableIndex[]): readonly string[] {
  const names = indexes.map(({ name = '' }) => name);
  return row ? names.filter((name) => row[`in_${name}`] !== 0) : [];
}

/** Whether the database numbers the rows. If so, SQLite stores them by their key. */
function isRowid({ primaryColumns }: Table): boolean {
  return primaryColumns.every(({ type }) => type === 'integer');
}

/** Opens a connection of its own, to read the rows that the product has written. */
export function dataSourceOf(url: string): Promise<DataSource> {
  return new DataSource(optionsOf(url)).initialize();
}

function optionsOf(url: string): DataSourceOptions {
  if (url.startsWith('sqlite:')) return { type: 'better-sqlite3', database: url.slice('sqlite:'.length) };
  return url.startsWith('postgres:') ? { type: 'postgres', url } : { type: 'mysql', url };
}
