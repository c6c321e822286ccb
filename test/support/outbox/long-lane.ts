import { DataSource, type DataSourceOptions } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { ClaimOrder } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { claimDeliveries } from '../../../src/outbox/queue/claim.js';
import type { Database } from '../../../src/storage/engine/database.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import type { Operation, Statement } from '../../../src/storage/engine/operation.js';
import { ACCOUNT, aSend, range, START } from '../../contract/storage/fixtures.js';

/** How many deliveries wait in the long lane, and how many have left it before them. */
export const LONG = 2000;

/** The long lane and 39 short ones. */
export const LANES = range(40).map((index) => `lane-${index}`);

/** A storage with one long lane, 39 short ones, and as many deliveries without a lane. */
export class LongLane {
  private constructor(
    readonly database: DataSource,
    private readonly storage: TypeormStorage,
    private readonly db: Database,
  ) {}

  static async open(options: DataSourceOptions): Promise<LongLane> {
    const database = await new DataSource(options).initialize();
    const storage = new TypeormStorage({ database });
    await storage.start();
    const long = new LongLane(database, storage, await databaseFor(database));
    await long.fill();
    return long;
  }

  async close(): Promise<void> {
    await this.storage.stop();
    await this.database.destroy();
  }

  /** The statement that finds the heads of all lanes, as the database gets it. */
  get heads(): Statement {
    const { dialect } = this.db;
    const first = claimDeliveries(dialect, ORDER).next();
    if (first.done) throw new Error('A claim begins with a statement.');
    return dialect.native(first.value);
  }

  /** Claims the heads of all lanes. Returns how many there were, and the number of statements. */
  async claim(): Promise<{ claimed: number; statements: number }> {
    let statements = 0;
    function* counted<T>(operation: Operation<T>): Operation<T> {
      let step = operation.next();
      while (!step.done) {
        statements++;
        step = operation.next(yield step.value);
      }
      return step.value;
    }
    const heads = await this.db.write(() => counted(claimDeliveries(this.db.dialect, ORDER)));
    return { claimed: heads.length, statements };
  }

  private async fill(): Promise<void> {
    const accounts = this.storage.store(AccountStore);
    const ledger = this.storage.store(LedgerStore);
    const outbox = this.storage.store(OutboxStore);
    await accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10 * LONG, at: START });
    const [lane = ''] = LANES;
    const send = (index: number) => aSend(index, { at: START + index });
    const all = range(LONG).map(send);
    await outbox.commit(all, decide);
    const gone = range(LONG).map((index) => ({ ...send(LONG + index), channel: 'wa', lane }));
    await outbox.commit(gone, decide);
    await outbox.settle(
      gone.map(({ id, at }) => ({ messageId: id, position: 0, status: 'sent', at, dueAt: at + 10 ** 9 })),
    );
    const waiting = range(LONG).map((index) => ({ ...send(2 * LONG + index), channel: 'wa', lane }));
    const others = LANES.slice(1).flatMap((each, index) =>
      range(3).map((round) => ({ ...send(3 * LONG + 3 * index + round), channel: 'wa', lane: each })),
    );
    await outbox.commit([...waiting, ...others], decide);
  }
}

const ORDER: ClaimOrder = {
  channel: 'wa',
  lanes: LANES,
  limit: 100,
  abandoned: false,
  now: START + 10 ** 8,
  leaseUntil: START + 2 * 10 ** 8,
};
