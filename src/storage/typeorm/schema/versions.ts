import type { Dialect } from '../dialects/dialect.js';
import { coreTables, msgappTables, sandboxTables, smsTables } from './schema.js';

/** A step of a group of tables. What has been released is not changed: a change is a version behind it. */
export interface SchemaVersion {
  /** Unique within the group, as `0002-by-country`. It is recorded as `<group>/<name>`. */
  readonly name: string;
  /**
   * The statements, in order, each of which has the name of its table behind `CREATE TABLE`. On PostgreSQL and SQLite a
   * version is applied whole or not at all. On MariaDB and MySQL one that broke off runs again from its first statement:
   * `CREATE`, `ADD COLUMN` and `DROP INDEX` are passed over where they have run, and any other statement must do no harm
   * when it runs twice.
   */
  up(dialect: Dialect): readonly string[];
}

/** Tables of one capability. */
export interface SchemaGroup {
  readonly name: string;
  /** In the order in which they are applied. Versions are only added, at the end. */
  readonly versions: readonly SchemaVersion[];
}

/** All our tables. Groups are applied one after the other, each with all its versions. */
export const SCHEMA: readonly SchemaGroup[] = [
  { name: 'core', versions: [{ name: '0001-initial', up: coreTables }] },
  { name: 'sms', versions: [{ name: '0001-initial', up: smsTables }] },
  { name: 'msgapp', versions: [{ name: '0001-initial', up: msgappTables }] },
  { name: 'sandbox', versions: [{ name: '0001-initial', up: sandboxTables }] },
];

/** The versions of groups, in the order in which they are applied, under the names by which they are recorded. */
export function versionsOf(groups: readonly SchemaGroup[]): readonly SchemaVersion[] {
  return groups.flatMap(({ name: group, versions }) =>
    versions.map(({ name, up }) => ({ name: `${group}/${name}`, up })),
  );
}

/** The tables that statements create. */
export function tablesOf(statements: readonly string[]): readonly string[] {
  return statements.flatMap((sql) => /^CREATE TABLE (\w+)/.exec(sql)?.[1] ?? []);
}
