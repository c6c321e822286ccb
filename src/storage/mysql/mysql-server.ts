import { MessagingOptionsError } from '../../common/errors.js';
import { IDLE_IN_TRANSACTION_S } from '../engine/connection.js';

/** The SQL that differs between MariaDB and MySQL, and between connections of ours and of a host. */
export interface MysqlServer {
  /** A collation that compares byte by byte, including trailing blanks. */
  readonly collation: string;
  /** The clause that limits the wait for a row lock; empty if only a setting limits it. */
  readonly lockWait: string;
  /**
   * A prefix that limits the lock wait of an insert. Whole seconds and ` FOR ` follow it. Empty if the server has none.
   */
  readonly insertWait: string;
  /** The first statement on a new connection of our own; empty for the connections of a host. */
  readonly setup: string;
  /** Whether the server can run several statements as one: `BEGIN NOT ATOMIC …; END`. */
  readonly compounds: boolean;
  /** Whether it is a node of Galera. */
  readonly isNode: boolean;
}

const MARIADB = {
  collation: 'utf8mb4_nopad_bin',
  lockWait: ' WAIT 5',
  insertWait: 'SET STATEMENT innodb_lock_wait_timeout = ',
  compounds: true,
};
const MYSQL = { collation: 'utf8mb4_0900_bin', lockWait: '', insertWait: '', compounds: false };

/** The smallest `max_allowed_packet` that suffices for a send to 100 000 recipients. It is MariaDB's default. */
const MIN_PACKET_BYTES = 16 * 1024 * 1024;

/**
 * A variable of a connection that our statements depend on: the value that we set on connections of our own, and
 * further values that are acceptable on those of a host.
 */
interface ConnectionNeed {
  readonly name: string;
  readonly value: string;
  readonly isFine?: (value: string) => boolean;
}

const NEEDS: readonly ConnectionNeed[] = [
  // Without it, every read would begin a transaction that nobody ends.
  { name: 'autocommit', value: 'ON' },
  { name: 'sql_mode', value: 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', isFine: (mode) => faultOfMode(mode) === '' },
  { name: 'default_storage_engine', value: 'InnoDB' },
  { name: 'sql_safe_updates', value: 'OFF' },
  { name: 'sql_auto_is_null', value: 'OFF' },
  { name: 'sql_select_limit', value: '18446744073709551615', isFine: (limit) => Number(limit) >= 2 ** 63 - 1 },
  { name: 'sql_big_selects', value: 'ON' },
  { name: 'unique_checks', value: 'ON' },
  // CHAIN would open another transaction after each commit, and RELEASE would close the connection.
  { name: 'completion_type', value: 'NO_CHAIN' },
];

/** Further variables that we set on connections of our own. On those of a host we accept any value. */
const OUR_SESSION = ['innodb_lock_wait_timeout = 5'];
const OUR_MARIADB = [
  `idle_transaction_timeout = ${IDLE_IN_TRANSACTION_S}`,
  'max_statement_time = 0',
  "tx_isolation = 'READ-COMMITTED'",
];
const OUR_MYSQL = ['max_execution_time = 0', "transaction_isolation = 'READ-COMMITTED'"];

const OF_SERVER = ['max_allowed_packet', 'innodb_rollback_on_timeout'];

/**
 * Finds out the version and the settings of the server.
 *
 * @param isOurs whether we may set the session variables of the connections
 * @throws MessagingOptionsError for a version without `SKIP LOCKED` or `JSON_TABLE`, and for settings with which our
 *   statements would fail or texts would change
 */
export async function mysqlServerOf(query: (sql: string) => Promise<unknown>, isOurs = false): Promise<MysqlServer> {
  const version = (await rowOf(query, ['version']))('version') ?? '';
  const isMariadb = /mariadb/i.test(version);
  if (!reaches(version, isMariadb ? [10, 6, 0] : [8, 0, 17])) {
    throw refusal(`the server's version is ${version}; MariaDB 10.6 or MySQL 8.0.17 is the least`);
  }
  const transaction = isMariadb ? 'tx' : 'transaction';
  const [isolation, readOnly] = [`${transaction}_isolation`, `${transaction}_read_only`];
  const names = [...NEEDS.map(({ name }) => name), isolation, readOnly, ...OF_SERVER];
  const setting = await rowOf(query, names);
  if (isOn(setting('innodb_rollback_on_timeout'))) {
    throw refusal(
      'innodb_rollback_on_timeout is ON: the server undoes half of a transaction that waits for a lock and commits the rest. Start the server without it',
    );
  }
  const packet = Number(setting('max_allowed_packet') ?? MIN_PACKET_BYTES);
  if (packet < MIN_PACKET_BYTES) {
    throw refusal(
      `max_allowed_packet is ${packet}, and a large send needs ${MIN_PACKET_BYTES}: SET GLOBAL max_allowed_packet = ${MIN_PACKET_BYTES}, and in the server's configuration`,
    );
  }
  if (isOn(setting(readOnly))) {
    throw refusal(
      'its transactions are read-only (transaction_read_only is ON). Give the address of the server that takes writes',
    );
  }
  if (!isOurs) {
    checkConnection(setting);
    if (setting(isolation) === 'READ-UNCOMMITTED') {
      throw refusal(
        `the default isolation is READ UNCOMMITTED, under which rows are read that may be undone. ${HOST_CURE}`,
      );
    }
  }
  // With Oracle's syntax, compound statements look different.
  const compounds = isOurs || !(setting('sql_mode') ?? '').includes('ORACLE');
  const setup = isOurs ? setupOf(isMariadb ? OUR_MARIADB : OUR_MYSQL) : '';
  const isNode = await replicatesByWrites(query);
  return isMariadb ? { ...MARIADB, setup, compounds, isNode } : { ...MYSQL, setup, isNode };
}

/** Whether Galera is on. `SHOW` is used, because a server without Galera has no such variable to select. */
async function replicatesByWrites(query: (sql: string) => Promise<unknown>): Promise<boolean> {
  const rows = await query("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'");
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  return isOn(String(Reflect.get(Object(row), 'Value')));
}

/**
 * Makes the statement that sets the variables of a connection of our own. `SET NAMES` comes first, because
 * `init_connect` may have set another character set.
 */
function setupOf(besides: readonly string[]): string {
  const needed = NEEDS.map(({ name, value }) => `${name} = ${/^\d+$/.test(value) ? value : `'${value}'`}`);
  return `SET NAMES utf8mb4, ${[...needed, ...OUR_SESSION, ...besides].map((set) => `SESSION ${set}`).join(', ')}`;
}

/** @throws MessagingOptionsError for a variable of a host's connection with an unsuitable value */
function checkConnection(setting: (name: string) => string | undefined): void {
  for (const { name, value: needed, isFine = (value: string) => isSame(value, needed) } of NEEDS) {
    const value = setting(name);
    if (value === undefined || isFine(value)) continue;
    const isSwitch = ['ON', 'OFF'].includes(needed);
    const shown = isSwitch ? switchOf(value) : value;
    const fault = name === 'sql_mode' ? faultOfMode(value) : `is ${shown}, and must be ${needed}`;
    throw refusal(`${name} ${fault}. ${HOST_CURE}`);
  }
}

function isSame(value: string, needed: string): boolean {
  return [value, switchOf(value)].some((each) => each.toUpperCase() === needed.toUpperCase());
}

/** The server returns a switch as 1 or 0. This returns ON or OFF. */
function switchOf(value: string): string {
  return isOn(value) ? 'ON' : 'OFF';
}

function isOn(value: string | undefined): boolean {
  return value === '1' || value === 'ON';
}

const HOST_CURE =
  'Set it on the server, or give TypeormStorage the url instead of the DataSource: on connections of our own we set it';

/** The fault of an `sql_mode`, as the end of a sentence; '' if there is none. */
function faultOfMode(mode: string): string {
  if (!/STRICT_(TRANS|ALL)_TABLES|TRADITIONAL/.test(mode)) return 'lacks STRICT_TRANS_TABLES, so that texts are cut';
  return FAULTS_OF_MODES.find(([name]) => mode.split(',').includes(name))?.[1] ?? '';
}

const FAULTS_OF_MODES: readonly (readonly [mode: string, fault: string])[] = [
  ['NO_BACKSLASH_ESCAPES', 'has NO_BACKSLASH_ESCAPES, and the driver escapes texts with backslashes'],
  ['EMPTY_STRING_IS_NULL', 'has EMPTY_STRING_IS_NULL, so that empty texts are lost'],
];

/** Reads variables as one row, because an `sql_select_limit` could cut several rows. */
async function rowOf(
  query: (sql: string) => Promise<unknown>,
  names: readonly string[],
): Promise<(name: string) => string | undefined> {
  const rows = await query(`SELECT ${names.map((name) => `@@${name} AS ${name}`).join(', ')}`);
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  return (name) => {
    const value: unknown = Reflect.get(Object(row), name);
    return value === undefined || value === null ? undefined : String(value);
  };
}

function reaches(version: string, least: readonly number[]): boolean {
  const parts = version.split(/[.-]/).map(Number);
  const place = least.findIndex((part, index) => parts[index] !== part);
  return place === -1 || (parts[place] ?? 0) > (least[place] ?? 0);
}

function refusal(fault: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option storage: this database cannot be used: ${fault}.`);
}
