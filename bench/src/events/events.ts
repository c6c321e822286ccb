import autocannon from 'autocannon';
import { TypeormStorage } from 'nestjs-messaging';
import { AccountStore, type Delivery, decide, EventLog, LedgerStore, OutboxStore } from 'nestjs-messaging/storage';
import { Client } from 'pg';
import { v7 as timeOrderedId } from 'uuid';
import { load, postgresUrl, sqliteUrl, startTarget } from '../target.js';
import { MINUTE_MS } from '../time.js';
import { median, type Versus, versus } from '../versus.js';

/** The costs of the event log, and the time to read it. */
export interface EventFigures {
  /**
   * The deliveries that are settled a second by an account that records events, compared with one that does not, by
   * storage.
   */
  readonly settling: readonly (readonly [storage: string, ratio: number, perSecond: number])[];
  /**
   * `POST /send/sms` of an account that does not record events, with webhooks mounted, compared with a server without
   * webhooks, on SQLite.
   */
  readonly sending: Versus;
}

export async function benchEvents(turns: number): Promise<EventFigures> {
  const settling: [string, number, number][] = [];
  const places = [['SQLite', sqliteUrl] as const, ['PostgreSQL', postgresUrl] as const];
  for (const [name, place] of places) {
    const [on, off] = [await place(), await place()];
    if (!on || !off) continue;
    settling.push([name, ...(await settled(on.url, off.url, turns))]);
    await Promise.all([on.drop(), off.drop()]);
  }
  return { settling, sending: await sending(turns) };
}

const BATCH = 500;
const SENDS = 5_000;
export const ACCOUNT = 'bench';

async function settled(on: string, off: string, turns: number): Promise<[ratio: number, perSecond: number]> {
  return settledAgainst(await opened(on, true), await opened(off, false), turns);
}

/** Measures the deliveries that are settled a second by one storage, in turns with another one. It stops both. */
export async function settledAgainst(
  mine: TypeormStorage,
  other: TypeormStorage,
  turns: number,
): Promise<[ratio: number, perSecond: number]> {
  const ratios: number[] = [];
  const rates: number[] = [];
  for (let turn = -1; turn < turns; turn++) {
    const without = await settleMany(other);
    const own = await settleMany(mine);
    if (turn < 0) continue; // warm-up
    ratios.push(without / own);
    rates.push((1000 * SENDS) / own);
  }
  await Promise.all([mine.stop(), other.stop()]);
  return [median(ratios), median(rates)];
}

/** Opens a storage with an account that has units. */
export async function opened(url: string, recording: boolean): Promise<TypeormStorage> {
  const storage = new TypeormStorage({ database: url });
  await storage.start();
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: ACCOUNT, createdAt: Date.now() });
  await storage
    .store(LedgerStore)
    .post({ id: 'op:all', accountId: ACCOUNT, kind: 'topup', units: 1e12, at: Date.now() });
  if (recording) await storage.store(EventLog).switchOn(ACCOUNT, Date.now());
  return storage;
}

/** Settles single sends, the hand-overs and the deliveries each in batches. Returns the milliseconds. */
async function settleMany(storage: TypeormStorage): Promise<number> {
  const outbox = storage.store(OutboxStore);
  for (let sent = 0; sent < SENDS; sent += BATCH) {
    const sends = Array.from({ length: BATCH }, (_, index) => ({
      id: timeOrderedId(),
      accountId: ACCOUNT,
      channel: 'sms',
      sender: 'INFOS',
      payload: { kind: 'text', text: 'Bonjour' },
      recipients: [{ number: String(22_670_000_000 + index), units: 1 }],
      at: Date.now(),
      reply: {},
    }));
    await outbox.commit(sends, decide);
  }
  let took = 0;
  for (let done = 0; done < SENDS; done += BATCH) {
    const now = Date.now();
    const claimed = await outbox.claim({
      channel: 'sms',
      limit: BATCH,
      now,
      leaseUntil: now + MINUTE_MS,
      abandoned: true,
    });
    for (const status of ['sent', 'delivered'] as const) {
      const updates = claimed.map((each) => updateOf(each, status));
      const begun = performance.now();
      await outbox.settle(updates);
      took += performance.now() - begun;
    }
  }
  return took;
}

function updateOf({ messageId, position, attempt }: Delivery, status: 'sent' | 'delivered') {
  const at = Date.now();
  return { messageId, position, attempt, status, at, trail: [{ at, route: 'default', result: 'sent' as const }] };
}

async function sending(turns: number): Promise<Versus> {
  const [own, bare] = [sqliteUrl(), sqliteUrl()];
  const order = { kind: 'ours', adapter: 'express', dispatch: false };
  const mine = await startTarget({ ...order, url: own.url, events: true });
  const other = await startTarget({ ...order, url: bare.url });
  const result = await versus(
    turns,
    (seconds) => load(mine, seconds),
    (seconds) => load(other, seconds),
  );
  await Promise.all([mine.stop(), other.stop()]);
  await Promise.all([own.drop(), bare.drop()]);
  return result;
}

/**
 * Measures the p99 of `GET /events` from random places in a log, in milliseconds; undefined without a PostgreSQL
 * server.
 */
export async function benchFeed(stored: number): Promise<number | undefined> {
  const place = await postgresUrl();
  if (!place) return undefined;
  const target = await startTarget({ kind: 'ours', adapter: 'express', dispatch: false, url: place.url, events: true });
  const headers = { 'x-api-key': target.key };
  await fetch(`${target.base}/api/v1/events`, { headers });
  await fill(place.url, stored);
  const after = () => Math.floor(Math.random() * stored);
  const { latency } = await autocannon({
    url: target.base,
    connections: 4,
    duration: 10,
    headers,
    requests: [{ setupRequest: (request) => ({ ...request, path: `/api/v1/events?limit=100&after=${after()}` }) }],
  });
  await target.stop();
  await place.drop();
  return latency.p99;
}

/** Fills the log of the sending account with events that the database makes itself. */
async function fill(url: string, stored: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const data = JSON.stringify({
    id: timeOrderedId(),
    channel: 'sms',
    position: 0,
    number: '22670000000',
    signature: 'INFOS',
    status: 'delivered',
    error: null,
    units: 1,
    refunded_units: 0,
    accepted_at: new Date().toISOString(),
    metadata: null,
  });
  await client.query('SET synchronous_commit = off');
  await client.query(
    `INSERT INTO messaging_event (account_id, sequence, type, at, data)
      SELECT (SELECT id FROM messaging_account LIMIT 1), i, 'message.delivered', $1, $2 FROM generate_series(1, ${stored}) i`,
    [Date.now(), data],
  );
  await client.query(`UPDATE messaging_event_counter SET sequence = ${stored}, earliest = 1, began = 1`);
  await client.query('VACUUM ANALYZE');
  await client.end();
}
