import { MessagingOptionsError } from '../../common/errors.js';
import { SCHEMA_TABLE } from '../schema/schema-table.js';

/** The settings of a PostgreSQL server, database or role that matter to us. */
export interface PostgresServer {
  /**
   * Whether a statement outside our transactions has the same isolation as they have. With a stricter default it would
   * fail (40001) after each wait for a row lock.
   */
  readonly isReadCommitted: boolean;
}

/** The settings of a server whose defaults were not changed. */
export const DEFAULTS: PostgresServer = { isReadCommitted: true };

const SETTINGS = `SELECT current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby,
  current_setting('transaction_read_only') AS read_only, current_setting('default_transaction_isolation') AS isolation,
  current_schema() AS schema, current_setting('search_path') AS search_path, current_user AS role,
  (SELECT string_agg(n.nspname, ', ') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = '${SCHEMA_TABLE}' AND n.nspname = ANY (current_schemas(false))) AS found`;

/**
 * Reads the settings of the connections.
 *
 * @throws MessagingOptionsError for a standby, a read-only default, an encoding in which texts cannot be kept, and a search
 *   path in which our tables cannot be made or are not the first
 */
export async function postgresServerOf(query: (sql: string) => Promise<unknown>): Promise<PostgresServer> {
  const rows = await query(SETTINGS);
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (typeof row !== 'object' || row === null) return DEFAULTS;
  const setting = (name: string) => String(Reflect.get(row, name) ?? '');
  if (Reflect.get(row, 'standby') === true) {
    throw refusal('it is a standby, which takes no writes. Give the address of the primary');
  }
  // We do not set it to read-write ourselves, because operators use it to fence off an old primary.
  if (setting('read_only') === 'on') {
    throw refusal(
      'its transactions are read-only (default_transaction_read_only is on). Give the address of the primary; if this is it, set it to off for the server, the database and the role',
    );
  }
  const encoding = setting('encoding');
  if (encoding !== 'UTF8') {
    throw refusal(
      `its encoding is ${encoding}, in which many texts cannot be kept. Create one with ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  const [schema, path, role, found] = [setting('schema'), setting('search_path'), setting('role'), setting('found')];
  if (schema === '') {
    throw refusal(
      `the search_path of the role ${role} (${path === '' ? 'empty' : path}) names no schema that it may use. Create the schema, or ALTER ROLE ${role} SET search_path to another`,
    );
  }
  if (found !== '' && !found.split(', ').includes(schema)) {
    throw refusal(
      `our tables are in the schema ${found}, and the search_path of the role ${role} (${path}) begins with ${schema}, where other ones would be made. ALTER ROLE ${role} SET search_path = ${found}; or, if ${schema} is to have tables of its own, = ${schema} alone`,
    );
  }
  return { isReadCommitted: setting('isolation') === 'read committed' };
}

function refusal(fault: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option storage: this database cannot be used: ${fault}.`);
}
