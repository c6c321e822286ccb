import type { DataSource } from 'typeorm';
import { dialectFor } from '../../src/storage/typeorm/dialects/dialect-for.js';
import { schemaVersions } from '../../src/storage/typeorm/schema/schema.js';

/** Makes our tables as they were in the last version before that one, in an empty database. */
export async function makeSchemaBefore(dataSource: DataSource, version: string): Promise<void> {
  const dialect = await dialectFor(dataSource.options.type, (sql) => dataSource.query(sql));
  const [id, integer] = [dialect.columnType('id'), dialect.columnType('integer')];
  await dataSource.query(
    `CREATE TABLE messaging_schema (name ${id} NOT NULL PRIMARY KEY, applied_at ${integer} NOT NULL)`,
  );
  const versions = schemaVersions(dialect);
  const before = versions.findIndex(({ name }) => name === version);
  for (const { name, up } of versions.slice(0, before)) {
    for (const sql of up) await dataSource.query(sql);
    await dataSource.query(`INSERT INTO messaging_schema VALUES ('${name}', 0)`);
  }
}
