import Database from 'better-sqlite3';
import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';

type Value = string | number | null;

/** One write of a transaction: rows that are inserted, or one change of all recipients with these message ids. */
export type HandWrite =
  | { readonly table: string; readonly columns: readonly string[]; readonly rows: readonly (readonly Value[])[] }
  | { readonly set: Readonly<Record<string, Value>>; readonly ids: readonly string[] }
  | { readonly debit: number; readonly account: string };

/** Runs transactions on the raw driver, on one connection. */
export interface ByHand {
  /** @param durable whether the commit waits for the disk */
  transact(writes: readonly HandWrite[], durable: boolean): Promise<unknown>;
  close(): Promise<unknown>;
}

/** Opens hand-written statements for the database of a URL. Each is made once for a number of rows. */
export async function openByHand(url: string): Promise<ByHand> {
  if (url.startsWith('sqlite:')) return onSqlite(url.slice('sqlite:'.length));
  return url.startsWith('postgres:') ? onPostgres(url) : onMysql(url);
}

const DEBIT = 'UPDATE messaging_account SET balance = balance - ? WHERE id = ? AND balance >= ?';

function columnsOf(set: Readonly<Record<string, Value>>): string {
  return Object.keys(set)
    .map((column) => `${column} = ?`)
    .join(', ');
}

/** Uses prepared statements for one row each, which is the fastest way on SQLite. */
function onSqlite(file: string): ByHand {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  const prepared = new Map<string, Database.Statement>();
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  const write = (each: HandWrite) => {
    if ('debit' in each) statement(DEBIT).run(each.debit, each.account, each.debit);
    else if ('ids' in each) {
      const update = statement(
        `UPDATE messaging_recipient SET ${columnsOf(each.set)} WHERE message_id = ? AND position = 0`,
      );
      for (const id of each.ids) update.run(...Object.values(each.set), id);
    } else {
      const insert = statement(
        `INSERT INTO ${each.table} (${each.columns.join(', ')}) VALUES (${each.columns.map(() => '?').join(', ')})`,
      );
      for (const row of each.rows) insert.run(row);
    }
  };
  return {
    transact: async (writes, durable) => {
      database.pragma(`synchronous = ${durable ? 'FULL' : 'NORMAL'}`);
      statement('BEGIN IMMEDIATE').run();
      for (const each of writes) write(each);
      statement('COMMIT').run();
    },
    close: async () => database.close(),
  };
}

/** Uses prepared statements for all rows, and sends them together without waiting for answers. */
async function onPostgres(url: string): Promise<ByHand> {
  const client = new Client({ connectionString: url, pipeline: true });
  await client.connect();
  // The tables have just been filled and are not analysed yet, so the planner would otherwise read them whole.
  await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
  const names = new Map<string, string>();
  const send = (sql: string, values: readonly unknown[]) => {
    let place = 0;
    const text = sql.replace(/\?/g, () => `$${++place}`);
    const name = names.get(text) ?? `hand_${names.size}`;
    names.set(text, name);
    return client.query({ name, text, values: [...values] });
  };
  const write = (each: HandWrite) => {
    if ('debit' in each) return send(DEBIT, [each.debit, each.account, each.debit]);
    if ('ids' in each) {
      const update = `UPDATE messaging_recipient SET ${columnsOf(each.set)} WHERE message_id = ANY (?) AND position = 0`;
      return send(update, [...Object.values(each.set), each.ids]);
    }
    const lists = each.columns.map((_, index) => each.rows.map((row) => row[index]));
    const types = (each.rows[0] ?? []).map((value) => `?::${typeof value === 'number' ? 'bigint' : 'text'}[]`);
    return send(
      `INSERT INTO ${each.table} (${each.columns.join(', ')}) SELECT * FROM unnest(${types.join(', ')})`,
      lists,
    );
  };
  return {
    transact: (writes, durable) =>
      Promise.all([
        client.query(durable ? 'BEGIN' : 'BEGIN; SET LOCAL synchronous_commit = off'),
        ...writes.map(write),
        client.query('COMMIT'),
      ]),
    close: () => client.end(),
  };
}

/** Uses one text for each transaction, with the values in it. */
async function onMysql(url: string): Promise<ByHand> {
  const connection = await createConnection({ uri: url, multipleStatements: true });
  const statement = (each: HandWrite) => {
    if ('debit' in each) return connection.format(DEBIT, [each.debit, each.account, each.debit]);
    if ('ids' in each) {
      const update = `UPDATE messaging_recipient FORCE INDEX (PRIMARY) SET ${columnsOf(each.set)} WHERE message_id IN (?) AND position = 0`;
      return connection.format(update, [...Object.values(each.set), each.ids]);
    }
    return connection.format(`INSERT INTO ${each.table} (${each.columns.join(', ')}) VALUES ?`, [each.rows]);
  };
  return {
    transact: (writes) => connection.query(['BEGIN', ...writes.map(statement), 'COMMIT'].join('; ')),
    close: () => connection.end(),
  };
}
