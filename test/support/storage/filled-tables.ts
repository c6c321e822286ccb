/** One connection to PostgreSQL. */
interface Connection {
  query(sql: string): Promise<{ readonly rows: readonly Readonly<Record<string, string>>[] }>;
}

/** The value, in SQL, of columns in which many rows are equal. */
const COMMON: Readonly<Record<string, string>> = {
  channel: "'sms'",
  kind: "'text'",
  status: "'delivered'",
  account_id: "'other-' || i % 50",
  sender: "'INFOS'",
  state: "'{}'",
  payload: "'{}'",
  position: '0',
};

/** Columns that may be null, and that have an index of the rows in which they are not. */
const SET = ['lane', 'lane_turn', 'reference', 'lease_until'];

/**
 * Gives tables many rows of other accounts, with numbers and ids that nobody requests.
 *
 * @param only the names of the tables. Default: all of ours
 */
export async function fillTables(connection: Connection, rows: number, only?: readonly string[]): Promise<void> {
  const { rows: columns } =
    await connection.query(`SELECT c.table_name, c.column_name, c.data_type, c.is_nullable, i.keys
    FROM information_schema.columns c LEFT JOIN (SELECT tc.table_name, string_agg(k.column_name, ' ') AS keys
        FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage k USING (constraint_name)
        WHERE tc.constraint_type = 'PRIMARY KEY' GROUP BY tc.table_name) i ON i.table_name = c.table_name
    WHERE c.table_schema = current_schema() AND c.table_name LIKE 'messaging\\_%' AND c.table_name <> 'messaging_schema'
      AND c.is_identity = 'NO' ORDER BY c.ordinal_position`);
  for (const table of only ?? new Set(columns.map((column) => column.table_name))) {
    const own = columns.filter((column) => column.table_name === table);
    const filled = own.filter(
      ({ is_nullable: nullable, column_name: name = '' }) => nullable === 'NO' || SET.includes(name),
    );
    const keys = own[0]?.keys?.split(' ') ?? [];
    const values = filled.map(({ column_name: name = '', data_type: type, is_nullable: nullable }) => {
      // The last column of a key makes its rows unique.
      const common =
        name === keys.at(-1) || (keys.length > 1 && name === keys[0] && name !== 'account_id')
          ? undefined
          : COMMON[name];
      if (common !== undefined) return common;
      if (type === 'bytea') return "'\\x00'";
      // Few sessions live.
      if (name === 'lease_until') return `CASE WHEN i % 100 = 0 THEN i ${nullable === 'NO' ? 'ELSE 0 ' : ''}END`;
      if (type === 'smallint') return '1';
      return type === 'text' ? "'zz' || i" : 'i';
    });
    await connection.query(`INSERT INTO ${table} (${filled.map((column) => column.column_name).join(', ')})
      SELECT ${values.join(', ')} FROM generate_series(1, ${rows}) i`);
  }
}
