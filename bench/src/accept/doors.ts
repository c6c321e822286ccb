import { load, sqliteUrl, startTarget } from '../target.js';
import { type Versus, versus } from '../versus.js';

/**
 * Measures `POST /send/sms` of a service with log-in hooks, the doors of Twilio and Kannel and the one for agents, against the same
 * service without them. Both run on SQLite and take turns.
 */
export async function benchDoors(adapter: 'express' | 'fastify', turns: number): Promise<Versus> {
  const [own, bare] = [sqliteUrl(), sqliteUrl()];
  const order = { kind: 'ours', adapter, dispatch: false };
  const mine = await startTarget({ ...order, url: own.url, doors: true });
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
