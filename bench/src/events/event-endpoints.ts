import type { TypeormStorage } from 'nestjs-messaging';
import { EndpointStore } from 'nestjs-messaging/storage';
import { v7 as timeOrderedId } from 'uuid';
import { load, postgresUrl, sqliteUrl, startTarget, type Target } from '../target.js';
import { type Versus, versus } from '../versus.js';
import { ACCOUNT, opened, settledAgainst } from './events.js';

/**
 * The costs of ten endpoints for an account, compared with one endpoint. Nothing calls them, so only the account's own
 * writes count.
 */
export interface EndpointFigures {
  /** Deliveries settled a second, by storage. */
  readonly settling: readonly (readonly [storage: string, ratio: number, perSecond: number])[];
  /** `POST /send/sms` on SQLite. */
  readonly sending: Versus;
}

const MANY = 10;
/** A public address, so that no name is looked up. Nothing calls it. */
const ENDPOINT_URL = 'https://93.184.216.34/';

export async function benchEndpoints(turns: number): Promise<EndpointFigures> {
  const settling: [string, number, number][] = [];
  for (const [name, place] of [['SQLite', sqliteUrl] as const, ['PostgreSQL', postgresUrl] as const]) {
    const [ten, one] = [await place(), await place()];
    if (!ten || !one) continue;
    const [mine, other] = [await hostWith(ten.url, MANY), await hostWith(one.url, 1)];
    settling.push([name, ...(await settledAgainst(mine, other, turns))]);
    await Promise.all([ten.drop(), one.drop()]);
  }
  return { settling, sending: await sending(turns) };
}

/** Opens a storage whose account has a number of endpoints. */
async function hostWith(url: string, endpoints: number): Promise<TypeormStorage> {
  const storage = await opened(url, true);
  for (let made = 0; made < endpoints; made++) {
    const endpoint = {
      id: timeOrderedId(),
      accountId: ACCOUNT,
      url: ENDPOINT_URL,
      types: null,
      ordering: 'none' as const,
      batch: { max: 1, waitMs: 0 },
      signature: 'hmac' as const,
      description: null,
      createdAt: Date.now(),
      versions: [{ number: 1, pepper: 'bench', endsAt: null }],
    };
    await storage.store(EndpointStore).create(endpoint, { once: undefined, replyOf: () => ({}) });
  }
  return storage;
}

async function sending(turns: number): Promise<Versus> {
  const [ten, one] = [sqliteUrl(), sqliteUrl()];
  const order = { kind: 'ours', adapter: 'express', dispatch: false, events: true } as const;
  const mine = await startTarget({ ...order, url: ten.url });
  const other = await startTarget({ ...order, url: one.url });
  await give(mine, MANY);
  await give(other, 1);
  const result = await versus(
    turns,
    (seconds) => load(mine, seconds),
    (seconds) => load(other, seconds),
  );
  await Promise.all([mine.stop(), other.stop()]);
  await Promise.all([ten.drop(), one.drop()]);
  return result;
}

async function give({ base, key }: Target, endpoints: number): Promise<void> {
  for (let made = 0; made < endpoints; made++) {
    const { status } = await fetch(`${base}/api/v1/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify({ url: ENDPOINT_URL }),
    });
    if (status !== 200) throw new Error(`An endpoint could not be made: ${status}.`);
  }
}
