import autocannon from 'autocannon';
import { Client } from 'pg';
import { fillPostgres } from '../accept/growth.js';
import { fillSqlite } from '../accept/stored.js';
import { postgresUrl, sqliteUrl, startTarget, type Target } from '../target.js';
import { DAY_MS } from '../time.js';
import { median } from '../versus.js';

/** The effect of a purge of old messages on sends. */
export interface PurgeRun {
  /** The p99.9 of `POST /send/sms` in milliseconds without a purge, as the median of the turns. */
  readonly without: number;
  readonly beside: number;
  /** Whether the purge had ended at the end of the last turn. */
  readonly ended: boolean;
}

/**
 * Loads two servers in turns with eight connections, while one of them removes a number of messages. Undefined without
 * a server.
 */
export async function benchPurge(
  database: 'sqlite' | 'postgres',
  messages: number,
  turns: number,
): Promise<PurgeRun | undefined> {
  const places = database === 'sqlite' ? [sqliteUrl(), sqliteUrl()] : [await postgresUrl(), await postgresUrl()];
  const [quiet, purged] = places;
  if (!quiet || !purged) return undefined;
  const order = { kind: 'ours', adapter: 'express', dispatch: false };
  const without = await startTarget({ ...order, url: quiet.url });
  // The server is started once, because a start makes the tables.
  await (await startTarget({ ...order, url: purged.url })).stop();
  await fill(database, purged.url, messages);
  const beside = await startTarget({ ...order, url: purged.url, purge: true });
  const times: [number[], number[]] = [[], []];
  for (let turn = 0; turn < turns; turn++) {
    times[0].push(await slowest(without));
    times[1].push(await slowest(beside));
  }
  const ended = database === 'postgres' && (await isPurged(purged.url));
  await Promise.all([without.stop(), beside.stop()]);
  await Promise.all([quiet.drop(), purged.drop()]);
  return { without: median(times[0]), beside: median(times[1]), ended };
}

async function fill(database: 'sqlite' | 'postgres', url: string, messages: number): Promise<void> {
  if (database === 'sqlite') return fillSqlite(url, messages);
  const client = new Client({ connectionString: url });
  await client.connect();
  await fillPostgres(client, messages, Date.now() - 2 * DAY_MS);
  await client.end();
}

async function isPurged(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT count(*) AS left FROM messaging_recipient WHERE message_id < '01000000-0000-7000-8000-ffffffffffff'",
  );
  await client.end();
  console.log(`  ${String(rows[0]?.left)} recipients left`);
  return Number(rows[0]?.left) === 0;
}

const BODY = JSON.stringify({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });

async function slowest({ base, key }: Target): Promise<number> {
  const { latency } = await autocannon({
    url: `${base}/api/v1/send/sms`,
    connections: 8,
    duration: 3,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: BODY,
  });
  return latency.p99_9;
}
