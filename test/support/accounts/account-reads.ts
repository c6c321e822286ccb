import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { type AuditQuery } from '../../../src/accounts/audit/audit-entry.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { HOUR_MS } from '../../../src/common/time.js';
import { OverviewStore } from '../../../src/management/usage/overview-store.js';
import { UsageStore } from '../../../src/management/usage/usage-store.js';
import type { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';

/** When the accounts began to send, and how many messages each has sent in this many hours. */
const BEGAN = Date.UTC(2026, 10, 21);
const HOURS = 40;
const MESSAGES = 20_000;

/** The maximum number of rows that one of the reads may touch, including index entries. */
export const FEW = 9000;

/** Two accounts that have sent and changed a lot, with a top-up and a refund early on. */
export async function fillAccounts(storage: TypeormStorage, source: DataSource): Promise<void> {
  for (const account of ['demo', 'other']) {
    await storage.store(AccountStore).createAccount({ id: account, name: account, createdAt: BEGAN });
    const post = { id: `funds-${account}`, accountId: account, kind: 'topup', units: 1, at: BEGAN + 1 } as const;
    await storage.store(LedgerStore).post(post);
    for (let first = 0; first < MESSAGES; first += 1000) {
      const rows = Array.from({ length: 1000 }, (_, at) => {
        const sentAt = BEGAN + Math.floor(((first + at) * HOURS * HOUR_MS) / MESSAGES);
        return { id: `${account}-${String(first + at).padStart(6, '0')}`, at: sentAt };
      });
      const insert = (table: string, columns: string, row: (each: { id: string; at: number }) => string) =>
        source.query(
          `INSERT INTO messaging_${table} (${columns}) VALUES ${rows.map((each) => `(${row(each)})`).join(', ')}`,
        );
      await insert(
        'message',
        'id, account_id, channel, kind, sender, payload, units, refunded_units, accepted_at',
        ({ id, at }) => `'${id}', '${account}', 'sms', 'text', 'INFOS', '{}', 1, 0, ${at}`,
      );
      await insert(
        'ledger',
        'id, account_id, kind, units, message_id, posted_at',
        ({ id, at }) => `'${id}', '${account}', 'charge', -1, '${id}', ${at}`,
      );
      await insert(
        'recipient',
        'message_id, position, channel, number, units, refunded_units, status, attempt, updated_at',
        ({ id, at }) => `'${id}', 0, 'sms', '22670000000', 1, 0, 'delivered', 1, ${at}`,
      );
      await insert(
        'audit',
        'account_id, at, by_kind, action, target, changes',
        ({ id, at }) => `'${account}', ${at}, 'host', 'key.created', '${id}', '{}'`,
      );
    }
    await source.query(`INSERT INTO messaging_usage_account (account_id, done_until, claimed_until)
      VALUES ('${account}', ${BEGAN + (HOURS / 2) * HOUR_MS}, 0)`);
    await source.query(`INSERT INTO messaging_ledger (id, account_id, kind, units, message_id, position, posted_at)
      VALUES ('${account}-000001:0', '${account}', 'refund', 1, '${account}-000001', 0, ${BEGAN + 2})`);
  }
}

/** Requests that are made again and again, or by anybody, each by its name. */
export function readsOf(storage: TypeormStorage): Readonly<Record<string, () => Promise<unknown>>> {
  const [usage, overview, log] = [storage.store(UsageStore), storage.store(OverviewStore), storage.store(AuditLog)];
  const now = BEGAN + HOURS * HOUR_MS;
  const middle = BEGAN + (HOURS / 2) * HOUR_MS;
  const page = { limit: 10 };
  const changes = async (of: Pick<AuditQuery, 'accountId' | 'action'>) => {
    const first = await log.list({ ...page, ...of, since: BEGAN, until: BEGAN + HOUR_MS });
    const { items } = await log.list({ ...page, ...of, since: BEGAN, until: BEGAN + HOUR_MS, after: first.next });
    expect([first.items.length, items.length]).toEqual([10, 10]);
    expect(Math.min(...first.items.map(({ at }) => at))).toBeGreaterThanOrEqual(items[0]?.at ?? BEGAN + HOUR_MS);
  };
  return {
    'top-ups': async () => {
      const { items } = await storage.store(LedgerStore).entries('demo', { ...page, kind: 'topup' });
      expect(items.map(({ kind }) => kind)).toEqual(['topup']);
    },
    refunds: async () => {
      const { items } = await storage.store(LedgerStore).entries('demo', { ...page, kind: 'refund', until: middle });
      expect(items.map(({ kind }) => kind)).toEqual(['refund']);
    },
    charges: async () => {
      const { items } = await storage
        .store(LedgerStore)
        .entries('demo', { ...page, kind: 'charge', since: middle, until: now });
      expect(items).toHaveLength(10);
    },
    'a window of the ledger': async () => {
      const { items } = await storage.store(LedgerStore).entries('demo', { ...page, since: BEGAN, until: middle });
      expect(items).toHaveLength(10);
    },
    'early changes of an account': () => changes({ accountId: 'demo' }),
    'early changes of a kind': () => changes({ action: 'key.created' }),
    'early changes': () => changes({}),
    'usage of an hour that is not rolled up': async () => {
      const [row] = await usage.usage({ accountId: 'demo', since: now - HOUR_MS, until: now, groupBy: [], now });
      expect(row).toMatchObject({ charged: MESSAGES / HOURS, recipients: MESSAGES / HOURS });
    },
    'states of a day': async () => {
      const query = { accountId: 'demo', channels: ['sms'], since: BEGAN, until: now, most: 100 };
      expect(await overview.statuses(query)).toEqual({ counts: { delivered: 100 }, isComplete: false });
    },
    'what waits': async () => {
      expect(await overview.oldestWaiting('demo', ['sms', 'msgapp'], 0)).toBeUndefined();
    },
    'what needs attention': async () => {
      expect(await overview.attention('demo', ['sms', 'msgapp'], now)).toEqual([]);
    },
    'a round that rolls up an hour of each, behind many that are': async () => {
      const signal = new AbortController().signal;
      for (let [hours, ended] = [0, middle]; hours === 0; ) {
        ended += HOUR_MS;
        const order = { now, until: ended, verifyFrom: undefined, after: '', limit: 10, signal };
        ({ hours } = await usage.rollUp(order));
      }
    },
    'a round over accounts that are not due': async () => {
      const signal = new AbortController().signal;
      const order = { now, until: BEGAN, verifyFrom: undefined, after: '', limit: 10, signal };
      expect(await usage.rollUp(order)).toEqual({ hours: 0, next: undefined });
    },
  };
}
