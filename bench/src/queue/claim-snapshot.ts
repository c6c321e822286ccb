import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TypeormStorage } from 'nestjs-messaging';
import { type Delivery, decide, OutboxStore } from 'nestjs-messaging/storage';
import { Client } from 'pg';
import { v7 as timeOrderedId } from 'uuid';
import { postgresUrl } from '../target.js';
import { MINUTE_MS } from '../time.js';

/** The times of claims of 500 deliveries, in milliseconds. */
export interface ClaimTimes {
  /** The times of the first tenth of the claims. */
  readonly atFirst: Quantiles;
  /** The times of the last tenth. */
  readonly atLast: Quantiles;
  readonly worst: number;
}

interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

const BATCH = 500;
const SEND = 100_000;
const ACCOUNT = 'bench';
const PROGRAM = fileURLToPath(import.meta.url);

/**
 * Measures claims while another connection keeps a snapshot open, so that no dead row is removed, until a number of
 * messages have been claimed. Another process accepts them, so that its garbage is not collected during a claim.
 * Undefined without a PostgreSQL server.
 */
export async function benchClaimUnderSnapshot(messages: number): Promise<ClaimTimes | undefined> {
  const place = await postgresUrl();
  if (!place) return undefined;
  const storage = new TypeormStorage({ database: place.url });
  await storage.start();
  const holder = new Client({ connectionString: place.url });
  await holder.connect();
  await holder.query(
    "INSERT INTO messaging_account (id, name, balance, created_at) VALUES ($1, 'bench', 1000000000, 0)",
    [ACCOUNT],
  );
  await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await holder.query('SELECT count(*) FROM messaging_account');
  const times: number[] = [];
  const accepting = fork(PROGRAM, [place.url], { env: { ...process.env, NODE_ENV: 'production' } });
  const ended = once(accepting, 'exit').then(() => Promise.reject(new Error('The process that accepts has ended.')));
  for (let passed = 0; passed < messages; passed += SEND) {
    accepting.send('accept');
    await Promise.race([once(accepting, 'message'), ended]);
    for (let claimed = 0; claimed < SEND; claimed += BATCH) times.push(await claimAndSettle(storage));
    await pause(1); // lets the server finish its own work first
  }
  accepting.disconnect();
  await ended.catch(() => undefined);
  await holder.query('ROLLBACK');
  await holder.end();
  await storage.stop();
  await place.drop();
  const tenth = Math.ceil(times.length / 10);
  return {
    atFirst: quantiles(times.slice(0, tenth)),
    atLast: quantiles(times.slice(-tenth)),
    worst: Math.max(...times),
  };
}

async function acceptWhenAsked(url: string): Promise<void> {
  const storage = new TypeormStorage({ database: url });
  await storage.start();
  process.on('message', () => accept(storage).then(() => process.send?.('accepted')));
  process.once('disconnect', () => storage.stop());
}

async function accept(storage: TypeormStorage): Promise<void> {
  const outbox = storage.store(OutboxStore);
  const recipients = Array.from({ length: SEND }, (_, index) => ({ number: String(22_670_000_000 + index), units: 1 }));
  const payload = { kind: 'text', text: 'Bonjour' };
  const send = { id: timeOrderedId(), accountId: ACCOUNT, channel: 'sms', sender: 'INFOS', payload, recipients };
  await outbox.commit([{ ...send, at: Date.now(), reply: {} }], decide);
}

/** Claims and settles a batch. Returns the milliseconds of the claim. */
async function claimAndSettle(storage: TypeormStorage): Promise<number> {
  const outbox = storage.store(OutboxStore);
  const now = Date.now();
  const begun = performance.now();
  const claimed = await outbox.claim({
    channel: 'sms',
    limit: BATCH,
    now,
    leaseUntil: now + MINUTE_MS,
    abandoned: true,
  });
  const took = performance.now() - begun;
  if (claimed.length !== BATCH) throw new Error(`A claim got ${claimed.length} of ${BATCH}.`);
  await outbox.settle(claimed.map(delivered));
  return took;
}

function delivered({ messageId, position, attempt }: Delivery) {
  return { messageId, position, attempt, status: 'delivered' as const, at: Date.now(), trail: [] };
}

function quantiles(times: readonly number[]): Quantiles {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

if (process.argv[1] === PROGRAM) await acceptWhenAsked(String(process.argv[2]));
