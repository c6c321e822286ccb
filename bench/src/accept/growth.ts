import autocannon from 'autocannon';
import { Client } from 'pg';
import { load, postgresUrl, startTarget, type Target } from '../target.js';
import { median, versus } from '../versus.js';

/** The effects of millions of stored messages on PostgreSQL. */
export interface Growth {
  /** The accept rate, compared with that of an empty database. */
  readonly accept: number;
  /** The bytes per message of each table with its indexes, the largest first. */
  readonly bytes: readonly (readonly [table: string, bytes: number])[];
  /** The p99 of `GET /sms` in milliseconds, with few and with many stored messages, each as the median of the turns. */
  readonly listing: readonly [few: number, many: number];
}

/**
 * Measures the growth. Half of the stored messages belong to the account that sends. Undefined without a PostgreSQL
 * server.
 */
export async function benchGrowth(stored: number, turns: number): Promise<Growth | undefined> {
  const [empty, full] = [await postgresUrl(), await postgresUrl()];
  if (!empty || !full) return undefined;
  const order = { kind: 'ours', adapter: 'express', dispatch: false };
  const before = await startTarget({ ...order, url: empty.url });
  const after = await startTarget({ ...order, url: full.url });
  const client = new Client({ connectionString: full.url });
  await client.connect();
  await fillPostgres(client, stored);
  const bytes = await sizes(client, stored);
  await client.end();
  const { ratio } = await versus(
    turns,
    (seconds) => load(after, seconds),
    (seconds) => load(before, seconds),
  );
  const listing: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns; turn++) {
    listing[0].push(await listingP99(before));
    listing[1].push(await listingP99(after));
  }
  await Promise.all([before.stop(), after.stop()]);
  await Promise.all([empty.drop(), full.drop()]);
  return { accept: ratio, bytes, listing: [median(listing[0]), median(listing[1])] };
}

async function listingP99({ base, key }: Target): Promise<number> {
  const url = `${base}/api/v1/sms?limit=50`;
  const { latency } = await autocannon({ url, connections: 4, duration: 1, headers: { 'x-api-key': key } });
  return latency.p99;
}

/**
 * Fills a database with delivered messages and all their rows, one message every six seconds until now. The database
 * makes them itself.
 */
export async function fillPostgres(client: Client, stored: number, until = Date.now()): Promise<void> {
  const { rows } = await client.query('SELECT id FROM messaging_account');
  const id = "'01000000-0000-7000-8000-' || lpad(to_hex(i), 12, '0')";
  const account = `CASE WHEN i % 2 = 0 THEN '${String(rows[0]?.id)}' ELSE 'account-' || (i % 1000) END`;
  const numbers = `FROM generate_series(1, ${stored}) i`;
  const at = `${until} - ${stored} * 6000::bigint + i * 6000::bigint`;
  await client.query('SET synchronous_commit = off');
  await client.query(`INSERT INTO messaging_message
    (id, account_id, channel, kind, sender, payload, units, refunded_units, recipients, accepted_at)
    SELECT ${id}, ${account}, 'sms', 'text', 'INFOS', '{"kind":"text","text":"Bonjour, votre colis est arrive."}', 1, 0, 1, ${at} ${numbers}`);
  await client.query(`INSERT INTO messaging_recipient
    (message_id, position, channel, number, units, refunded_units, status, attempt, tries, updated_at)
    SELECT ${id}, 0, 'sms', (22670000000 + i % 1000000)::text, 1, 0, 'delivered', 1, 1, ${at} ${numbers}`);
  await client.query(`INSERT INTO messaging_ledger (id, account_id, kind, units, message_id, posted_at)
    SELECT ${id}, ${account}, 'charge', -1, ${id}, ${at} ${numbers}`);
  await client.query(`INSERT INTO messaging_sent_to (account_id, channel, number, sent_at, message_id, position)
    SELECT ${account}, 'sms', (22670000000 + i % 1000000)::text, ${at}, ${id}, 0 ${numbers}`);
  await client.query(`INSERT INTO messaging_trail (message_id, position, at, place, tried, entry)
    SELECT ${id}, 0, ${at}, 0, 1, '{"at":1790000000000,"route":"default","result":"sent","reference":"8f14e45f"}' ${numbers}`);
  await client.query('VACUUM ANALYZE');
}

async function sizes(client: Client, stored: number): Promise<[string, number][]> {
  const { rows } = await client.query(`SELECT relname, pg_total_relation_size(oid) AS bytes FROM pg_class
    WHERE relkind = 'r' AND relname LIKE 'messaging!_%' ESCAPE '!' ORDER BY 2 DESC`);
  return rows
    .map(({ relname, bytes }): [string, number] => [String(relname), Number(bytes) / stored])
    .filter(([, bytes]) => bytes >= 1);
}
