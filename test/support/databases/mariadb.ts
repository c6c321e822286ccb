import { createConnection } from 'mysql2/promise';

const SERVER = 'mysql://root@127.0.0.1:3306';

/** Makes an empty database of its own for a suite; `drop` removes it. */
export async function createMariadbDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `messaging_test_${process.pid}_${Date.now()}`;
  await onServer(`CREATE DATABASE ${name}`);
  return { url: `${SERVER}/${name}`, drop: () => onServer(`DROP DATABASE ${name}`) };
}

async function onServer(sql: string): Promise<void> {
  const connection = await createConnection(SERVER);
  await connection.query(sql);
  await connection.end();
}
