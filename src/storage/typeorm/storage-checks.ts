import type { InjectionToken } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../../common/errors.js';
import { formatValue } from '../../common/options.js';

const NAMES = ['url', 'dataSource', 'migrations'];

/** Where the database is: a URL, a DataSource, or the token of one that the host provides. */
export type Whereabouts = { readonly database: DataSource | string } | { readonly token: InjectionToken };

/**
 * Checks what `TypeormStorage.forRoot` is given. No sentence shows a URL: it holds a password.
 * @throws MessagingOptionsError
 */
export function whereaboutsOf(options: unknown): Whereabouts {
  if (typeof options !== 'object' || options === null) {
    throw wrong('TypeormStorage.forRoot must be given { url } or { dataSource }.');
  }
  const given = new Map<string, unknown>(Object.entries(options).filter(([, value]) => value !== undefined));
  const unknown = [...given.keys()].find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw wrong(`${unknown} is not known; there are ${NAMES.join(', ')}.`);
  checkMigrations(given.get('migrations'));
  if (given.has('url') && given.has('dataSource')) throw wrong('give either url or dataSource, not both.');
  if (given.has('dataSource')) return whereaboutsOfDataSource(given.get('dataSource'));
  if (given.has('url')) return { database: checkedUrl(given.get('url')) };
  throw wrong('url or dataSource is missing.');
}

/** Checks what a `TypeormStorage` is made with. @throws MessagingOptionsError */
export function checkStorageSettings(settings: unknown): void {
  if (typeof settings !== 'object' || settings === null || !('database' in settings)) {
    throw wrong(
      'TypeormStorage does not know its database: write TypeormStorage.forRoot({ url }) or ({ dataSource }).',
    );
  }
  if (!(settings.database instanceof DataSource)) checkedUrl(settings.database);
  checkMigrations('migrations' in settings ? settings.migrations : undefined);
}

/** Checks what a host's injection token stands for. @throws MessagingOptionsError */
export function providedDataSource(database: unknown, token: InjectionToken): DataSource {
  if (database instanceof DataSource) return database;
  const name = typeof token === 'function' ? token.name : formatValue(token);
  throw wrong(`what the application provides for ${name} is no DataSource of the typeorm that nestjs-messaging loads.`);
}

function whereaboutsOfDataSource(dataSource: unknown): Whereabouts {
  if (dataSource instanceof DataSource) return { database: dataSource };
  if (typeof dataSource === 'string' || typeof dataSource === 'symbol' || typeof dataSource === 'function') {
    return { token: dataSource };
  }
  throw wrong('dataSource must be a DataSource of the typeorm that nestjs-messaging loads, or its injection token.');
}

function checkMigrations(migrations: unknown): void {
  if (migrations === undefined || migrations === 'run' || migrations === 'check') return;
  throw wrong(`migrations must be "run" or "check"; got ${formatValue(migrations)}.`);
}

function checkedUrl(url: unknown): string {
  if (typeof url !== 'string') throw wrong('url must be a text that starts with sqlite:, postgres:// or mysql://.');
  if (!/^(sqlite|postgres(ql)?|mysql|mariadb):/.test(url)) {
    throw wrong('a database URL starts with sqlite:, postgres:// or mysql://.');
  }
  const path = /^sqlite:(.*)/s.exec(url)?.[1];
  // better-sqlite3 trims it, and opens a temporary database where nothing is left.
  if (path?.trim() === '') {
    throw wrong(
      'there is no path in the URL, so nothing would be kept. Write sqlite:messaging.db, or sqlite::memory: for tests.',
    );
  }
  // It would be a file in the root, where nobody looks for it.
  if (path !== undefined && /^\s*\/\/(?!\/)/.test(path)) {
    throw wrong(
      'behind "sqlite://" there would be a host. Write sqlite:x.db for a path from here, or sqlite:///x.db for one from the root.',
    );
  }
  return url;
}

function wrong(sentence: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option storage: ${sentence}`);
}
