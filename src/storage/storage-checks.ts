import type { InjectionToken } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../common/errors.js';
import { formatValue } from '../common/options.js';
import { Dialect } from './dialect.js';
import { isDataSource } from './engine/typeorm-objects.js';
import { faultOfUrl } from './url-options.js';

const NAMES = ['url', 'dataSource', 'migrations', 'pooler', 'dialect'];

/** The database: a URL, a DataSource, or the injection token of a DataSource that the host provides. */
type DatabaseLocation = { readonly database: DataSource | string } | { readonly token: InjectionToken };

/**
 * Checks the options of `TypeormStorage.forRoot`. No message shows the URL, because it may contain a password.
 *
 * @throws MessagingOptionsError for unknown, contradictory or missing options
 */
export function databaseLocation(options: unknown): DatabaseLocation {
  if (typeof options !== 'object' || options === null) {
    throw wrong('TypeormStorage.forRoot must be given { url } or { dataSource }.');
  }
  const given = new Map<string, unknown>(Object.entries(options).filter(([, value]) => value !== undefined));
  const unknown = [...given.keys()].find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw wrong(`${unknown} is not known; the known options are ${NAMES.join(', ')}.`);
  checkMigrations(given.get('migrations'));
  checkPooler(given.get('pooler'));
  checkDialect(given.get('dialect'), given.get('pooler'));
  if (given.has('url') && given.has('dataSource')) throw wrong('give either url or dataSource, not both.');
  if (given.has('dataSource')) return dataSourceLocation(given.get('dataSource'));
  if (given.has('url')) return { database: checkedUrl(given.get('url')) };
  throw wrong('url or dataSource is missing.');
}

/**
 * Checks the settings of the constructor of `TypeormStorage`.
 *
 * @throws MessagingOptionsError for a missing or malformed database, or a wrong value of `migrations`, `pooler` or
 *   `dialect`
 */
export function checkStorageOptions(settings: unknown): void {
  if (typeof settings !== 'object' || settings === null || !('database' in settings)) {
    throw wrong(
      'TypeormStorage does not know its database: write TypeormStorage.forRoot({ url }) or ({ dataSource }).',
    );
  }
  if (!isDataSource(settings.database)) checkedUrl(settings.database);
  checkMigrations('migrations' in settings ? settings.migrations : undefined);
  const pooler = 'pooler' in settings ? settings.pooler : undefined;
  checkPooler(pooler);
  checkDialect('dialect' in settings ? settings.dialect : undefined, pooler);
}

/**
 * Checks the value that the host provides under its injection token.
 *
 * @throws MessagingOptionsError if it is not a DataSource
 */
export function providedDataSource(database: unknown, token: InjectionToken): DataSource {
  if (isDataSource(database)) return database;
  const name = typeof token === 'function' ? token.name : formatValue(token);
  throw wrong(`what the application provides for ${name} is no DataSource of TypeORM.`);
}

function dataSourceLocation(dataSource: unknown): DatabaseLocation {
  if (isDataSource(dataSource)) return { database: dataSource };
  if (typeof dataSource === 'string' || typeof dataSource === 'symbol' || typeof dataSource === 'function') {
    return { token: dataSource };
  }
  throw wrong('dataSource must be a DataSource of TypeORM, or its injection token.');
}

function checkMigrations(migrations: unknown): void {
  if (migrations === undefined || migrations === 'run' || migrations === 'check') return;
  throw wrong(`migrations must be "run" or "check"; got ${formatValue(migrations)}.`);
}

function checkPooler(pooler: unknown): void {
  if (pooler === undefined || pooler === 'transaction') return;
  throw wrong(`pooler must be "transaction"; got ${formatValue(pooler)}.`);
}

function checkDialect(dialect: unknown, pooler: unknown): void {
  if (dialect === undefined) return;
  if (typeof dialect === 'function' && dialect.prototype instanceof Dialect) {
    throw wrong(`dialect is the class ${dialect.name}: give an object of it, or a function that makes one.`);
  }
  if (typeof dialect !== 'function' && !(dialect instanceof Dialect)) {
    throw wrong(
      'dialect must be an object of a class that extends Dialect of nestjs-messaging/storage, or a function that makes one.',
    );
  }
  // Only our own dialect of PostgreSQL knows which statements a pooler accepts.
  if (pooler !== undefined) throw wrong('give either pooler or dialect, not both: write the dialect for the pooler.');
}

function checkedUrl(url: unknown): string {
  if (typeof url !== 'string') throw wrong('url must be a text that starts with sqlite:, postgres:// or mysql://.');
  if (!/^(sqlite|postgres(ql)?|mysql|mariadb):/.test(url)) {
    throw wrong('a database URL starts with sqlite:, postgres:// or mysql://.');
  }
  const path = /^sqlite:(.*)/s.exec(url)?.[1];
  // better-sqlite3 trims the path and opens a temporary database for an empty one.
  if (path?.trim() === '') {
    throw wrong(
      'there is no path in the URL, so nothing would be kept. Write sqlite:messaging.db, or sqlite::memory: for tests.',
    );
  }
  // SQLite would read it as a path from the root directory, which the host hardly means.
  if (path !== undefined && /^\s*\/\/(?!\/)/.test(path)) {
    throw wrong(
      'behind "sqlite://" there would be a host. Write sqlite:x.db for a path from here, or sqlite:///x.db for one from the root.',
    );
  }
  if (path === undefined) checkOneHost(url);
  const fault = faultOfUrl(url);
  if (fault !== undefined) throw wrong(`${fault}.`);
  return url;
}

/**
 * Refuses URLs with several hosts, or with options that choose among hosts. The drivers would ignore or misread them,
 * because they connect to one host.
 */
function checkOneHost(url: string): void {
  const [, address = '', query = ''] = /^[^:]+:(?:\/\/)?([^/?#]*)[^?#]*(?:\?([^#]*))?/.exec(url) ?? [];
  const options = new URLSearchParams(query);
  // A password may contain a comma, so only the part after the last `@` is read.
  const hosts = [address.slice(address.lastIndexOf('@') + 1), ...options.getAll('host'), ...options.getAll('port')];
  const isSeveral = hosts.some((host) => host.includes(','));
  const unknown = ['target_session_attrs', 'load_balance_hosts', 'failover'].find((name) => options.has(name));
  if (!isSeveral && unknown === undefined) return;
  throw wrong(
    `the URL ${isSeveral ? 'names several hosts' : `has ${unknown}`}, which the driver does not know. Give one address that leads to the server that takes writes, for example that of HAProxy; new connections then reach the new primary after a failover (docs/operations.md, On a cluster).`,
  );
}

function wrong(sentence: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option storage: ${sentence}`);
}
