import { randomUUID } from 'node:crypto';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MessagingClient } from '../../../src/client/messaging-client.js';
import { phoneOf } from '../http/sms-client.js';
import { startMessaging } from '../mounting/messaging-app.js';
import { CuttingProxy } from './cutting-proxy.js';

/** Concurrent callers. */
const CALLERS = 32;

/** The results of sends over a line that breaks. */
export interface CutSends {
  /** Connections that were cut. */
  readonly cuts: number;
  /** Answers with an id of their own. */
  readonly answered: number;
  /** Messages that the service has stored. */
  readonly stored: number;
  /** Units that were charged. Each send costs one. */
  readonly charged: number;
  /** The faults that the check of the ledger found. */
  readonly faults: readonly string[];
}

/**
 * Sends through a proxy that cuts one connection in five after the request was read.
 * @param keyPerAttempt like a client that makes the Idempotency-Key too late
 */
export async function sendOverCuts(count: number, { keyPerAttempt = false } = {}): Promise<CutSends> {
  const app = await startMessaging('express', {}, { units: 4 * count });
  const proxy = await CuttingProxy.listen(app.port);
  try {
    const naive = (url: string, init: RequestInit) =>
      fetch(url, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init.headers)), 'idempotency-key': randomUUID() },
      });
    const client = new MessagingClient({
      baseUrl: `http://127.0.0.1:${proxy.port}/api/v1`,
      apiKey: app.key,
      // Of this many sends, some are cut several times.
      retries: 20,
      ...(keyPerAttempt && { fetch: naive }),
    });
    let next = 0;
    const ids = new Set<string>();
    const caller = async () => {
      while (next < count) {
        const order = { signature: 'INFOS', content: 'Bonjour', number: [phoneOf(next++)] };
        ids.add((await client.sms.send(order)).smsID);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));

    const direct = new MessagingClient({ baseUrl: `${app.url}/api/v1`, apiKey: app.key });
    let stored = 0;
    for await (const _ of direct.sms.list({ limit: 500 })) stored++;
    const { balance } = await direct.balance();
    const faults = await app.app.get(LedgerService, { strict: false }).checkLedger();
    return { cuts: proxy.cuts, answered: ids.size, stored, charged: 4 * count - balance, faults };
  } finally {
    await proxy.close();
    await app.close();
  }
}
