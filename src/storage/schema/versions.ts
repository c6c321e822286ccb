import type { Dialect } from '../dialect.js';

/** A version of a group of tables. A released version does not change: a change of the schema is a new version. */
export interface SchemaVersion {
  /** The name, unique within the group. Example: `0002-by-country`. It is recorded as `<group>/<name>`. */
  readonly name: string;
  /**
   * The statements in order: plain `CREATE TABLE t`, `CREATE [UNIQUE] INDEX i ON t`, `ALTER TABLE t` and
   * `DROP INDEX i`, with the name directly after these words. On a table that is in use, the dialect runs them in a
   * form that makes nobody wait. So a column must be added without values or with a constant default, and no statement
   * may write a table's rows.
   *
   * On SQLite a version is applied atomically, and so is a first installation on PostgreSQL. Otherwise an interrupted
   * version runs again from its first statement. `CREATE`, `ADD COLUMN` and `DROP INDEX` are skipped if they have
   * already run, and any other statement must be safe to run twice.
   */
  up(dialect: Dialect): readonly string[];
}

/** Tables of one capability. */
export interface SchemaGroup {
  readonly name: string;
  /** The versions in the order in which they are applied. New versions are only added at the end. */
  readonly versions: readonly SchemaVersion[];
}

const ADDED = '+';

/**
 * Returns groups of capabilities that are not in `SCHEMA`, each once. Their versions are recorded with a `+`, so that a
 * process that does not mount such a capability can ignore them.
 */
export function addedGroups(groups: readonly SchemaGroup[]): readonly SchemaGroup[] {
  return [...new Set(groups)].map(({ name, versions }) => ({ name: ADDED + name, versions }));
}

/** Whether a group or a version is one of {@link addedGroups}. */
export function isAdded({ name }: { readonly name: string }): boolean {
  return name.startsWith(ADDED);
}

/** Whether a recorded version belongs to an added capability whose group is not among these. */
export function isOfOtherCapability(version: string, groups: readonly SchemaGroup[]): boolean {
  return isAdded({ name: version }) && !groups.some(({ name }) => version.startsWith(`${name}/`));
}

/** The versions of groups in the order in which they are applied, with the names under which they are recorded. */
export function versionsOf(groups: readonly SchemaGroup[]): readonly SchemaVersion[] {
  return groups.flatMap(({ name: group, versions }) =>
    versions.map(({ name, up }) => ({ name: `${group}/${name}`, up })),
  );
}

/**
 * The table that a statement makes or changes; undefined if the statement has none of the usual forms.
 *
 * @param all the statements of all versions, to find the table of an index that is dropped
 */
export function tableOf(sql: string, all: readonly string[]): string | undefined {
  const table = /^(?:CREATE TABLE|ALTER TABLE|CREATE (?:UNIQUE )?INDEX \w+ ON) (\w+)/.exec(sql)?.[1];
  const index = /^DROP INDEX (\w+)/.exec(sql)?.[1];
  if (index === undefined) return table;
  const made = all.find((each) => /^CREATE (?:UNIQUE )?INDEX (\w+)/.exec(each)?.[1] === index);
  return made === undefined ? undefined : tableOf(made, all);
}

/** The indexes that exist after the statements have run. */
export function indexesOf(statements: readonly string[]): readonly string[] {
  const indexes = new Set<string>();
  for (const sql of statements) {
    const [, does, index] = /^(CREATE|DROP) (?:UNIQUE )?INDEX (\w+)/.exec(sql) ?? [];
    if (index === undefined) continue;
    if (does === 'CREATE') indexes.add(index);
    else indexes.delete(index);
  }
  return [...indexes];
}

/** The tables that the statements create. */
export function tablesOf(statements: readonly string[]): readonly string[] {
  return statements.flatMap((sql) => /^CREATE TABLE (\w+)/.exec(sql)?.[1] ?? []);
}
