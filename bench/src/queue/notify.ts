import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { AccountService, LedgerService, SmsService } from 'nestjs-messaging';
import { postgresUrl } from '../target.js';
import { type Notified, startNotified } from './notify-host.js';

/** The milliseconds from the accept of a message in one process to its hand-over in another. */
export interface HandOver {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Measures single messages, one after the other, with pauses in which the worker has nothing to do. Undefined without
 * PostgreSQL.
 */
export async function benchNotify(by: Notified, messages: number): Promise<HandOver | undefined> {
  const place = await postgresUrl();
  if (!place) return undefined;
  const app = await startNotified(place.url, by, false);
  const worker = fork(new URL('./notify-host.js', import.meta.url), [place.url, by]);
  await once(worker, 'message');
  // Both processes are connected after this pause.
  await pause(1000);
  const accounts = app.get(AccountService, { strict: false });
  const { id } = await accounts.createAccount({ name: 'bench' });
  await app.get(LedgerService, { strict: false }).topUp(id, messages);
  const sms = app.get(SmsService, { strict: false });
  const took: number[] = [];
  for (let index = 0; index < messages; index++) {
    const handedOver = once(worker, 'message');
    await sms.send(id, { signature: 'INFOS', content: 'Bonjour', number: [String(22_670_000_000 + index)] });
    const accepted = performance.now();
    await handedOver;
    took.push(performance.now() - accepted);
    await pause(Math.random() * 200);
  }
  worker.disconnect();
  await app.close();
  await place.drop();
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
