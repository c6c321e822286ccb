import { Client } from 'pg';

const SERVER = 'postgres://postgres@127.0.0.1:5432';

/** Makes an empty database of its own for a suite; `drop` removes it. */
export async function createPostgresDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `messaging_test_${process.pid}_${Date.now()}`;
  await onServer(`CREATE DATABASE ${name}`);
  return { url: `${SERVER}/${name}`, drop: () => onServer(`DROP DATABASE ${name} WITH (FORCE)`) };
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: `${SERVER}/postgres` });
  await client.connect();
  await client.query(sql);
  await client.end();
}
