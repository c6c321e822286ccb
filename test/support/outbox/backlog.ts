import { DataSource, type DataSourceOptions } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { ClaimOrder, Delivery } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { aSend, recipients, START } from '../../contract/storage/fixtures.js';

/** How many deliveries of one account wait. */
export const BACKLOG = 20_000;

/** So few that no claim, expiry or look can have read the backlog. */
export const FEW = 400;

/**
 * A storage in which one account has a backlog, another one delivery, and a third one a delivery that is being sent
 * past its lease.
 */
export class Backlog {
  private sends = 0;

  private constructor(
    readonly database: DataSource,
    readonly storage: TypeormStorage,
  ) {}

  static async open(options: DataSourceOptions): Promise<Backlog> {
    const database = await new DataSource(options).initialize();
    const storage = new TypeormStorage({ database });
    await storage.start();
    const backlog = new Backlog(database, storage);
    for (const account of ['late', 'large', 'small']) {
      await storage.store(AccountStore).createAccount({ id: account, name: account, createdAt: START });
      await storage
        .store(LedgerStore)
        .post({ id: account, accountId: account, kind: 'topup', units: 10 * BACKLOG, at: START });
    }
    await backlog.accept('late', 1);
    await backlog.claim({ leaseUntil: START });
    await backlog.accept('large', BACKLOG);
    await backlog.accept('small', 1);
    return backlog;
  }

  async close(): Promise<void> {
    await this.storage.stop();
    if (this.database.isInitialized) await this.database.destroy();
  }

  async accept(accountId: string, count: number, at = START): Promise<void> {
    const send = aSend(++this.sends, { accountId, at, recipients: recipients(count) });
    const [outcome] = await this.storage.store(OutboxStore).commit([send], decide);
    if (outcome?.kind !== 'accepted') throw new Error('The send is not accepted.');
  }

  claim(over: Partial<ClaimOrder> = {}): Promise<readonly Delivery[]> {
    const order = { channel: 'sms', limit: 10, now: START + 1, leaseUntil: START + 10 ** 9, abandoned: false };
    return this.storage.store(OutboxStore).claim({ ...order, ...over });
  }

  /** The accounts of a batch that also takes abandoned deliveries. All of them share it. */
  async accounts(): Promise<readonly string[]> {
    const claimed = await this.claim({ abandoned: true });
    return claimed.map(({ accountId }) => accountId).sort();
  }

  /** The work of a worker that has nothing to claim. */
  async look(): Promise<void> {
    await this.storage
      .store(OutboxStore)
      .expire({ channel: 'sms', limit: 10, now: START + 1, statuses: ['sent', 'sending'] });
    await this.storage.store(OutboxStore).nextDue('sms');
  }
}

/** The first result of `Backlog.accounts`. */
export const SHARED = ['late', ...Array.from({ length: 8 }, () => 'large'), 'small'].sort();
