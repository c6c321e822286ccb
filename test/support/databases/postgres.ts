import { Client } from 'pg';

const SERVER = 'postgres://postgres@127.0.0.1:5432';

let made = 0;

/** Makes an empty database of its own for a suite; `drop` removes it. @param options of `CREATE DATABASE` */
export async function createPostgresDatabase(options = ''): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `messaging_test_${process.pid}_${Date.now()}_${++made}`;
  await onServer(`CREATE DATABASE ${name} ${options}`);
  return { url: `${SERVER}/${name}`, drop: () => onServer(`DROP DATABASE ${name} WITH (FORCE)`) };
}

/** A connection beside those of a storage; `close` ends it. */
export async function connectPostgres(url: string): Promise<Client & { close(): Promise<void> }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { close: () => client.end() });
}

async function onServer(sql: string): Promise<void> {
  const client = await connectPostgres(`${SERVER}/postgres`);
  await client.query(sql);
  await client.close();
}
