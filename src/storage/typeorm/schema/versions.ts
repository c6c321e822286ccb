import type { Dialect } from '../dialects/dialect.js';
import { coreTables, msgappTables, sandboxScreens, sandboxTables, smsTables } from './schema.js';

/** A version of a group of tables. A released version does not change: a change of the schema is a new version. */
export interface SchemaVersion {
  /** Unique within the group, as `0002-by-country`. It is recorded as `<group>/<name>`. */
  readonly name: string;
  /**
   * The statements in order, with the name of the table directly after `CREATE TABLE`. On PostgreSQL and SQLite a version is
   * applied atomically. On MariaDB and MySQL an interrupted version runs again from its first statement: `CREATE`,
   * `ADD COLUMN` and `DROP INDEX` are skipped where they have run, and any other statement must be safe to run twice.
   */
  up(dialect: Dialect): readonly string[];
}

/** Tables of one capability. */
export interface SchemaGroup {
  readonly name: string;
  /** In the order in which they are applied. Versions are only added, at the end. */
  readonly versions: readonly SchemaVersion[];
}

/** All our tables. Groups are applied in this order, each with all its versions. */
export const SCHEMA: readonly SchemaGroup[] = [
  { name: 'core', versions: [{ name: '0001-initial', up: coreTables }] },
  { name: 'sms', versions: [{ name: '0001-initial', up: smsTables }] },
  { name: 'msgapp', versions: [{ name: '0001-initial', up: msgappTables }] },
  {
    name: 'sandbox',
    versions: [
      { name: '0001-initial', up: sandboxTables },
      { name: '0002-screens', up: sandboxScreens },
    ],
  },
];

const ADDED = '+';

/**
 * Groups of capabilities that are not in `SCHEMA`, each once. Their versions are recorded with a `+`, so that a process that
 * does not mount such a capability can pass over them.
 */
export function addedGroups(groups: readonly SchemaGroup[]): readonly SchemaGroup[] {
  return [...new Set(groups)].map(({ name, versions }) => ({ name: ADDED + name, versions }));
}

/** Whether a group or a version is one of {@link addedGroups}. */
export function isAdded({ name }: { readonly name: string }): boolean {
  return name.startsWith(ADDED);
}

/** Whether a recorded version is of a capability that none of these groups is of. */
export function isOfOtherCapability(version: string, groups: readonly SchemaGroup[]): boolean {
  return isAdded({ name: version }) && !groups.some(({ name }) => version.startsWith(`${name}/`));
}

/** The versions of groups in the order in which they are applied, with the names under which they are recorded. */
export function versionsOf(groups: readonly SchemaGroup[]): readonly SchemaVersion[] {
  return groups.flatMap(({ name: group, versions }) =>
    versions.map(({ name, up }) => ({ name: `${group}/${name}`, up })),
  );
}

/** The tables that statements create. */
export function tablesOf(statements: readonly string[]): readonly string[] {
  return statements.flatMap((sql) => /^CREATE TABLE (\w+)/.exec(sql)?.[1] ?? []);
}
