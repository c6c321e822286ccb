import { setImmediate as pause } from 'node:timers/promises';
import type { Database as SqliteConnection } from 'better-sqlite3';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import type { HostTransaction } from '../../../src/common/host-transaction.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { RetentionStore } from '../../../src/outbox/retention/retention-store.js';
import { type PhoneDelivery, type PhoneMessage, PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { Database, type StoreClass, type Work } from '../../../src/storage/engine/database.js';
import { driveSync, type Statement } from '../../../src/storage/engine/operation.js';
import { MessagingStorage, type StorageFinding, type StorageHealth } from '../../../src/storage/messaging-storage.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';
import { SqliteHandle } from '../../../src/storage/sqlite/sqlite-handle.js';
import { settled } from '../common/settled.js';
import { SqliteMemory } from './sqlite-memory.js';
import { inPlaceOf } from './store-in-place.js';

/**
 * A database without isolation: it runs an operation and rolls it back, waits, and then writes what the operation
 * wrote, whatever others have written meanwhile. If the key of a row is taken by then, the row is silently not written.
 */
export class StaleDatabase extends Database {
  override readonly dialect = new SqliteDialect();
  private readonly handle: SqliteHandle;
  private readonly inPlace = new Map<StoreClass, object>();

  /** @param hesitate the wait between reading and writing; by default a turn of the event loop */
  constructor(
    database: SqliteConnection,
    private readonly hesitate: () => Promise<unknown> = () => pause(),
  ) {
    super();
    // The contract must find balances below zero, not the column.
    database.pragma('ignore_check_constraints = ON');
    this.handle = new SqliteHandle(database);
  }

  /** Replaces a store. */
  use<S extends object>(Store: StoreClass<S>, store: S): void {
    this.inPlace.set(Store, store);
  }

  override store<S extends object>(Store: StoreClass<S>): S {
    const own = this.inPlace.get(Store);
    return (own && inPlaceOf(Store, own)) ?? super.store(Store);
  }

  override async write<T>(work: Work<T>, _host?: HostTransaction): Promise<T> {
    const written: Statement[] = [];
    const result = this.undone(work, written);
    await this.hesitate();
    for (const statement of written) {
      for (const params of statement.each ?? [statement.params]) this.tryTo({ sql: statement.sql, params });
    }
    return result;
  }

  override writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return this.write(work, host);
  }

  override async read<T>(work: Work<T>, _host?: HostTransaction): Promise<T> {
    return this.undone(work, []);
  }

  override whenCommitted(_host: HostTransaction, task: () => void): void {
    task();
  }

  override async stop(): Promise<void> {}

  private undone<T>(work: Work<T>, written: Statement[]): T {
    this.handle.execute({ sql: 'BEGIN', params: [] });
    try {
      return driveSync(work(), (statement) => {
        const result = this.handle.execute(statement);
        if (statement.sql.startsWith('UPDATE messaging_account')) written.push(...this.balancesOf(statement));
        else if (/^\s*(INSERT|UPDATE|DELETE)/.test(statement.sql)) written.push(statement);
        return result;
      });
    } finally {
      this.handle.execute({ sql: 'ROLLBACK', params: [] });
    }
  }

  /**
   * The resulting balances of a statement. Anything that is added to them meanwhile is lost. The last value of the
   * statement is an id, or a list of ids.
   */
  private balancesOf({ params, each = [params] }: Statement): readonly Statement[] {
    return each.flatMap((values) => {
      const ids = String(values.at(-1));
      const sql = `SELECT balance, posted, low, low_below, id FROM messaging_account WHERE id ${this.dialect.among()}`;
      const { rows } = this.handle.execute({ sql, params: [ids.startsWith('[') ? ids : JSON.stringify([ids])] });
      const set = 'UPDATE messaging_account SET balance = ?, posted = ?, low = ?, low_below = ? WHERE id = ?';
      return rows.map((row) => ({ sql: set, params: Object.values(row) }));
    });
  }

  private tryTo(statement: Statement): void {
    try {
      this.handle.execute(statement);
    } catch {
      // The key is taken.
    }
  }
}

/** Reads which messages exist, waits, and stores the others. The table's key is prevented from finding a duplicate. */
class NaivePhoneStore extends PhoneStore {
  private readonly stored = new Set<string>();

  override async receive(messages: readonly PhoneDelivery[]): Promise<void> {
    for (const message of messages) {
      const { to, channel, messageId } = message;
      const known = await this.messages(to);
      await pause();
      if (known.some((other) => other.messageId === messageId && other.channel === channel)) continue;
      const key = [to, channel, messageId].join();
      const ownId = this.stored.has(key) ? `${messageId}#${this.stored.size}` : messageId;
      this.stored.add(key).add(ownId);
      await super.receive([{ ...message, messageId: ownId }]);
    }
  }

  override async messages(number: string): Promise<readonly PhoneMessage[]> {
    return (await super.messages(number)).map(withOwnId);
  }
}

function withOwnId({ messageId, ...rest }: PhoneMessage): PhoneMessage {
  return { ...rest, messageId: messageId.replace(/#\d+$/, '') };
}

/** Each call has a store of its own, because the queue of one store would run its calls one after the other. */
class NaiveLedgerStore extends LedgerStore {
  constructor(private readonly stale: Database) {
    super(stale);
  }

  override post(...given: Parameters<LedgerStore['post']>): ReturnType<LedgerStore['post']> {
    return new LedgerStore(this.stale).post(...given);
  }
}

/** Like `NaiveLedgerStore`. */
class NaivePolicyStore extends PolicyStore {
  constructor(private readonly stale: Database) {
    super(stale);
  }

  override change<T>(...[keys, step]: Parameters<PolicyStore['change']>): Promise<T> {
    return new PolicyStore(this.stale).change(keys, step) as Promise<T>;
  }
}

/** Its writes of credentials take longer than ending or taking over their session. */
class NaiveSessionStore extends SessionStore {
  constructor(
    stale: Database,
    private readonly slow: SessionStore,
  ) {
    super(stale);
  }

  override writeCredentials(
    ...given: Parameters<SessionStore['writeCredentials']>
  ): ReturnType<SessionStore['writeCredentials']> {
    return this.slow.writeCredentials(...given);
  }
}

/**
 * The SQL stores without transactions: each reads, waits for a moment, and writes what it has concluded from data that
 * may have changed. One after the other everything works. This shows that the contract's race tests can fail.
 */
export class NaiveStorage extends MessagingStorage {
  private readonly stale: StaleDatabase;

  private constructor(private readonly under: SqliteMemory) {
    super();
    this.stale = new StaleDatabase(under.database);
    this.stale.use(PhoneStore, new NaivePhoneStore(this.stale));
    this.stale.use(LedgerStore, new NaiveLedgerStore(this.stale));
    this.stale.use(PolicyStore, new NaivePolicyStore(this.stale));
    this.stale.use(
      SessionStore,
      new NaiveSessionStore(this.stale, new SessionStore(new StaleDatabase(under.database, () => settled(5)))),
    );
  }

  static async open(): Promise<NaiveStorage> {
    return new NaiveStorage(await SqliteMemory.open());
  }

  override async start(): Promise<void> {}

  override store<S extends object>(Store: StoreClass<S>): S {
    // No race test uses this.
    if (inPlaceOf(Store, RetentionStore.prototype)) return this.under.store(Store);
    return this.stale.store(Store);
  }

  override serverNow(): Promise<number | undefined> {
    return this.under.serverNow();
  }

  override examine(): Promise<readonly StorageFinding[]> {
    return this.under.examine();
  }

  override waiting(): number {
    return this.under.waiting();
  }

  override health(): Promise<StorageHealth> {
    return this.under.health();
  }

  override stop(): Promise<void> {
    return this.under.close();
  }
}
