import { monitorEventLoopDelay } from 'node:perf_hooks';
import { TypeormStorage } from 'nestjs-messaging';
import { LedgerStore } from 'nestjs-messaging/storage';
import { DataSource } from 'typeorm';
import { sqliteUrl } from '../target.js';
import { MINUTE_MS } from '../time.js';

/** The result of a check of the books of a SQLite file. */
export interface LedgerRun {
  readonly minutes: number;
  /** The longest time that the event loop was blocked, in milliseconds. */
  readonly held: number;
  /** The number of chunks that the check has reported. */
  readonly reports: number;
  /** The number of faults that the check has found. The books are correct, so it should be 0. */
  readonly findings: number;
  /** The number of faults that a check from the middle on has found. */
  readonly again: number;
}

const ACCOUNTS = 1000;

/** Checks the books of a number of messages of a thousand accounts, and then once more from the middle. */
export async function benchLedger(messages: number): Promise<LedgerRun> {
  const place = sqliteUrl();
  const storage = new TypeormStorage({ database: place.url });
  await storage.start();
  await fill(place.url, messages);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const places: string[] = [];
  delay.enable();
  const begun = performance.now();
  const findings = await storage.store(LedgerStore).check({ onProgress: ({ next }) => places.push(next) });
  const minutes = (performance.now() - begun) / MINUTE_MS;
  delay.disable();
  const again = await storage.store(LedgerStore).check({ after: places[Math.floor(places.length / 2)] });
  await storage.stop();
  await place.drop();
  const held = delay.max / 1e6;
  return { minutes, held, reports: places.length, findings: findings.length, again: again.length };
}

async function fill(url: string, messages: number): Promise<void> {
  const database = url.slice('sqlite:'.length);
  const source = await new DataSource({ type: 'better-sqlite3', database, enableWAL: true }).initialize();
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${messages})`;
  const id = "printf('01000000-0000-7000-8000-%012x', i)";
  const account = `'account-' || (i % ${ACCOUNTS})`;
  await source.query('PRAGMA synchronous = OFF');
  await source.query(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${ACCOUNTS - 1})
    INSERT INTO messaging_account (id, name, balance, posted, created_at)
    SELECT 'account-' || i, 'bench', 5, 5 + ${messages} / ${ACCOUNTS}, 0 FROM n`);
  await source.query(`INSERT INTO messaging_ledger (id, account_id, kind, units, posted_at)
    SELECT 'topup-' || id, id, 'topup', posted, 0 FROM messaging_account`);
  await source.query(`${numbers} INSERT INTO messaging_message
    (id, account_id, channel, kind, sender, payload, units, refunded_units, accepted_at)
    SELECT ${id}, ${account}, 'sms', 'text', 'INFOS', '{"kind":"text","text":"Bonjour, votre colis est arrive."}', 1, 0, i FROM n`);
  await source.query(`${numbers} INSERT INTO messaging_recipient
    (message_id, position, channel, number, units, refunded_units, status, attempt, updated_at)
    SELECT ${id}, 0, 'sms', '2267' || i, 1, 0, 'delivered', 1, i FROM n`);
  await source.query(`${numbers} INSERT INTO messaging_ledger (id, account_id, kind, units, message_id, posted_at)
    SELECT ${id}, ${account}, 'charge', -1, ${id}, i FROM n`);
  await source.query('PRAGMA wal_checkpoint(TRUNCATE)');
  await source.destroy();
}
