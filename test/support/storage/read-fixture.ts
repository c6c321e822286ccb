import { DataSource, type DataSourceOptions } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { listMessages } from '../../../src/outbox/listing/listings.js';
import { listFirstRecipients, listNumbers, readRecipients } from '../../../src/outbox/listing/recipients.js';
import type { MessageQuery, RecipientQuery } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { Database } from '../../../src/storage/engine/database.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import type { Operation, Row, Statement } from '../../../src/storage/engine/operation.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../../contract/storage/fixtures.js';

/** The number of messages with one recipient, all older than the large one, which has this many recipients. */
export const SMALL = 3000;
export const LARGE = 30_000;

/** The newest message. */
export const LARGE_ID = messageId(SMALL);

/** The maximum number of rows that a page may read: 2000 messages, 20 000 recipients, and the shown ones. */
export const MAX_ROWS = 25_000;

/** The effects of a read: its result, its statements as the database gets them, and the rows that these returned. */
export interface Watched<T> {
  readonly result: T;
  readonly statements: readonly Statement[];
  readonly rows: readonly Row[];
}

/**
 * A storage with an account that has sent a lot. Only the oldest message has the sender `RARE`, and it failed. The
 * third one has a number of its own.
 */
export class ReadFixture {
  private constructor(
    readonly database: DataSource,
    readonly storage: TypeormStorage,
    private readonly db: Database,
  ) {}

  static async open(options: DataSourceOptions): Promise<ReadFixture> {
    const database = await new DataSource(options).initialize();
    const storage = new TypeormStorage({ database });
    await storage.start();
    const world = new ReadFixture(database, storage, await databaseFor(database));
    await world.fill();
    return world;
  }

  async close(): Promise<void> {
    await this.storage.stop();
    await this.database.destroy();
  }

  list(over: Partial<MessageQuery> = {}) {
    const query = { accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 50, ...over };
    return this.watch(listMessages(this.db.dialect, query));
  }

  firstRecipients(ids: readonly string[]) {
    return this.watch(listFirstRecipients(this.db.dialect, ids));
  }

  numbers(ids: readonly string[]) {
    return this.watch(listNumbers(this.db.dialect, ids));
  }

  recipients(query: RecipientQuery) {
    return this.watch(readRecipients(this.db.dialect, LARGE_ID, query));
  }

  private async watch<T>(operation: Operation<T>): Promise<Watched<T>> {
    const statements: Statement[] = [];
    const rows: Row[] = [];
    const { dialect } = this.db;
    function* watched(): Operation<T> {
      let step = operation.next();
      while (!step.done) {
        statements.push(dialect.native(step.value));
        const given = yield step.value;
        rows.push(...given.rows);
        step = operation.next(given);
      }
      return step.value;
    }
    return { result: await this.db.browse(watched, ACCOUNT), statements, rows };
  }

  private async fill(): Promise<void> {
    const accounts = this.storage.store(AccountStore);
    const ledger = this.storage.store(LedgerStore);
    const outbox = this.storage.store(OutboxStore);
    await accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: SMALL + LARGE, at: START });
    const small = range(SMALL).map((index) =>
      aSend(index, {
        at: START + index,
        sender: index === 0 ? 'RARE' : 'INFOS',
        metadata: { order: String(index) },
        recipients: [{ number: index === 2 ? '33612345678' : phone(index), units: 1 }],
      }),
    );
    for (let at = 0; at < SMALL; at += 500) await outbox.commit(small.slice(at, at + 500), decide);
    await outbox.commit([aSend(SMALL, { at: START + SMALL, recipients: recipients(LARGE) })], decide);
    await outbox.settle([{ messageId: messageId(0), position: 0, status: 'failed', at: START }]);
  }
}
