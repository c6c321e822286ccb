import { TypeormStorage } from 'nestjs-messaging';
import { DataSource } from 'typeorm';
import { load, sqliteUrl, startTarget } from '../target.js';
import { versus } from '../versus.js';

/**
 * Measures the accept rate with `stored` messages in the database, compared with the rate of an empty database, on
 * SQLite and Express.
 */
export async function benchStored(stored: number, turns: number): Promise<number> {
  const [empty, full] = [sqliteUrl(), sqliteUrl()];
  await fillSqlite(full.url, stored);
  const order = { kind: 'ours', adapter: 'express', dispatch: false };
  const [before, after] = [
    await startTarget({ ...order, url: empty.url }),
    await startTarget({ ...order, url: full.url }),
  ];
  const { ratio } = await versus(
    turns,
    (seconds) => load(after, seconds),
    (seconds) => load(before, seconds),
  );
  await Promise.all([before.stop(), after.stop()]);
  await Promise.all([empty.drop(), full.drop()]);
  return ratio;
}

/** Fills a database with delivered messages of many accounts and all their rows. The database makes them itself. */
export async function fillSqlite(url: string, stored: number): Promise<void> {
  const storage = new TypeormStorage({ database: url });
  await storage.start();
  await storage.stop();
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database: url.slice('sqlite:'.length),
    enableWAL: true,
  }).initialize();
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${stored})`;
  // The ids are ordered by time and lie in the past. There are a thousand accounts.
  const id = "printf('01000000-0000-7000-8000-%012x', i)";
  const account = "'account-' || (i % 1000)";
  await dataSource.query(`${numbers} INSERT INTO messaging_message
    (id, account_id, channel, kind, sender, payload, units, refunded_units, accepted_at)
    SELECT ${id}, ${account}, 'sms', 'text', 'INFOS', '{"kind":"text","text":"Bonjour, votre colis est arrive."}', 1, 0, i FROM n`);
  await dataSource.query(`${numbers} INSERT INTO messaging_recipient
    (message_id, position, channel, number, units, refunded_units, status, attempt, updated_at)
    SELECT ${id}, 0, 'sms', '2267' || i, 1, 0, 'delivered', 1, i FROM n`);
  await dataSource.query(`${numbers} INSERT INTO messaging_ledger (id, account_id, kind, units, message_id, posted_at)
    SELECT ${id}, ${account}, 'charge', -1, ${id}, i FROM n`);
  await dataSource.query('PRAGMA wal_checkpoint(TRUNCATE)');
  await dataSource.destroy();
}
