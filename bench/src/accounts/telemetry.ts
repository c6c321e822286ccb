import { TypeormStorage } from 'nestjs-messaging';
import { StorageMeter } from 'nestjs-messaging/storage';
import { Client } from 'pg';
import { fillPostgres } from '../accept/growth.js';
import { load, postgresUrl, sqliteUrl, startTarget } from '../target.js';
import { median, type Versus, versus } from '../versus.js';
import { METRICS_SECRET, type TelemetryKind } from './telemetry-host.js';

/** Measures the accept rate with telemetry, compared with the rate without it, on SQLite and Express. */
export async function benchMeasuredAccept(kind: TelemetryKind, turns: number): Promise<Versus> {
  const [with_, without] = [sqliteUrl(), sqliteUrl()];
  const order = { kind: 'ours', adapter: 'express', dispatch: false };
  const measured = await startTarget({ ...order, url: with_.url, telemetry: kind });
  const plain = await startTarget({ ...order, url: without.url });
  const run = await versus(
    turns,
    (seconds) => load(measured, seconds),
    (seconds) => load(plain, seconds),
  );
  await Promise.all([measured.stop(), plain.stop()]);
  await Promise.all([with_.drop(), without.drop()]);
  return run;
}

/**
 * Measures scrapes of a server that has accepted sends for a second. Returns the median and the worst time in
 * milliseconds.
 */
export async function benchScrape(scrapes: number): Promise<{ readonly p50: number; readonly worst: number }> {
  const place = sqliteUrl();
  const target = await startTarget({
    kind: 'ours',
    adapter: 'express',
    dispatch: true,
    url: place.url,
    telemetry: 'prometheus',
  });
  await load(target, 1);
  const took: number[] = [];
  for (let scrape = 0; scrape < scrapes; scrape++) {
    const began = performance.now();
    const answer = await fetch(`${target.base}/api/v1/metrics`, {
      headers: { authorization: `Bearer ${METRICS_SECRET}` },
    });
    if (!(await answer.text()).includes('messaging_accept_duration_seconds_count')) throw new Error('No metrics.');
    took.push(performance.now() - began);
  }
  await target.stop();
  await place.drop();
  return { p50: median(took), worst: Math.max(...took) };
}

/** The size of the backlog, which is the size at which the count stops. The next constant is its number of accounts. */
const OPEN = 100_000;
const ACCOUNTS = 500;

/**
 * Measures background rounds with a number of stored messages and a backlog, on PostgreSQL. Returns the median and the
 * worst time in milliseconds.
 */
export async function benchGauges(
  stored: number,
  rounds: number,
): Promise<{ readonly p50: number; readonly worst: number } | undefined> {
  const place = await postgresUrl();
  if (!place) return undefined;
  const storage = new TypeormStorage({ database: place.url });
  await storage.start();
  const client = new Client({ connectionString: place.url });
  await client.connect();
  await fillPostgres(client, stored);
  await client.query(`INSERT INTO messaging_recipient
    (message_id, position, channel, number, units, refunded_units, status, attempt, due_at, updated_at, queue)
    SELECT 'open-' || i, 0, 'sms', '22670000000', 1, 0, 'queued', 0, i, i, 'account-' || (i % ${ACCOUNTS})
    FROM generate_series(1, ${OPEN}) i`);
  await client.query('VACUUM ANALYZE messaging_recipient');
  await client.end();
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    const measures = await storage.store(StorageMeter).measure({ now: Date.now(), channels: ['sms'] });
    took.push(performance.now() - began);
    if (measures.open.every(({ count }) => count < OPEN)) throw new Error('The backlog was not counted.');
  }
  await storage.stop();
  await place.drop();
  return { p50: median(took), worst: Math.max(...took) };
}
