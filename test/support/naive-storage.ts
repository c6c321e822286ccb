import { setImmediate as pause } from 'node:timers/promises';
import type { Abstract } from '@nestjs/common';
import type { Database } from 'better-sqlite3';
import { TypeormAccountStore } from '../../src/accounts/account-sql.js';
import { TypeormAuditLog } from '../../src/accounts/audit/audit-sql.js';
import { TypeormLedgerStore } from '../../src/billing/ledger-sql.js';
import type { HostTransaction } from '../../src/common/host-transaction.js';
import { MessagingStorage } from '../../src/core/messaging-storage.js';
import { TypeormEventLog } from '../../src/events/event-log-sql.js';
import { EventRecorder } from '../../src/events/event-recorder.js';
import { TypeormUserSessionStore } from '../../src/management/session/user-session-sql.js';
import { TypeormOverviewStore } from '../../src/management/usage/overview-sql.js';
import { TypeormUsageStore } from '../../src/management/usage/usage-sql.js';
import { TypeormMediaStore } from '../../src/media/media-sql.js';
import { TypeormAddressStore } from '../../src/msgapp/address-sql.js';
import { TypeormReceivedMessageStore } from '../../src/msgapp/received/received-message-sql.js';
import { TypeormSessionStore } from '../../src/msgapp/sessions/session-sql.js';
import { TypeormOutboxStore } from '../../src/outbox/outbox-sql.js';
import { TypeormPolicyStore } from '../../src/outbox/policy/policy-sql.js';
import { RetentionStore } from '../../src/outbox/retention/retention-store.js';
import { TypeormPhoneStore } from '../../src/sandbox/phones/phone-sql.js';
import type { PhoneDelivery, PhoneMessage } from '../../src/sandbox/phones/phone-store.js';
import { TypeormReceivedSmsStore } from '../../src/sms/inbound/received-sms-sql.js';
import { TypeormOptOutStore } from '../../src/sms/opt-out/opt-out-sql.js';
import { TypeormPartStore } from '../../src/sms/receipts/part-sql.js';
import { Executor, type Work } from '../../src/storage/engine/executor.js';
import { driveSync, type Statement } from '../../src/storage/engine/operation.js';
import { SqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.js';
import { SqliteHandle } from '../../src/storage/sqlite/sqlite-handle.js';
import { TypeormEndpointStore } from '../../src/webhooks/endpoints/endpoint-sql.js';
import { settled } from './settled.js';
import { SqliteMemory } from './sqlite-memory.js';

/**
 * An executor without isolation: it runs an operation and takes it back, waits, and then writes what the operation wrote,
 * whatever others have written meanwhile. A row whose key is taken by then is not written; nobody hears of it.
 */
export class StaleExecutor extends Executor {
  override readonly dialect = new SqliteDialect();
  private readonly handle: SqliteHandle;

  /** @param hesitate what passes between reading and writing; a turn of the event loop unless given */
  constructor(
    database: Database,
    private readonly hesitate: () => Promise<unknown> = () => pause(),
  ) {
    super();
    // Balances below zero are for the contract to find, not for the column.
    database.pragma('ignore_check_constraints = ON');
    this.handle = new SqliteHandle(database);
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

  /** The balances that a statement has led to, as they are now: what is added to them meanwhile is lost. Its last value is an id, or ids. */
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
      // Its key is taken.
    }
  }
}

/** Looks which messages there are, waits, and stores the others; the table's key is kept from finding a second one. */
class NaivePhoneStore extends TypeormPhoneStore {
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

/** Each call has a store of its own: a store's queue would have its calls follow on one another. */
class NaiveLedgerStore extends TypeormLedgerStore {
  constructor(private readonly stale: Executor) {
    super(stale);
  }

  override post(...given: Parameters<TypeormLedgerStore['post']>): ReturnType<TypeormLedgerStore['post']> {
    return new TypeormLedgerStore(this.stale).post(...given);
  }
}

/** As `NaiveLedgerStore`. */
class NaivePolicyStore extends TypeormPolicyStore {
  constructor(private readonly stale: Executor) {
    super(stale);
  }

  override change<T>(...[keys, step]: Parameters<TypeormPolicyStore['change']>): Promise<T> {
    return new TypeormPolicyStore(this.stale).change(keys, step) as Promise<T>;
  }
}

/** Its writes of credentials take longer than what ends or takes over their session. */
class NaiveSessionStore extends TypeormSessionStore {
  constructor(
    stale: Executor,
    private readonly slow: TypeormSessionStore,
  ) {
    super(stale);
  }

  override writeCredentials(
    ...given: Parameters<TypeormSessionStore['writeCredentials']>
  ): ReturnType<TypeormSessionStore['writeCredentials']> {
    return this.slow.writeCredentials(...given);
  }
}

/**
 * The stores of SQL without transactions: each reads, thinks for a moment, and writes what it has concluded from what may no
 * longer be so. One after the other everything works. It shows that the contract's race tests can fail.
 */
export class NaiveStorage extends MessagingStorage {
  override readonly outbox;
  override readonly ledger;
  override readonly accounts;
  override readonly policies;
  override readonly media;
  private readonly stores: readonly object[];

  private constructor(private readonly under: SqliteMemory) {
    super();
    const stale = new StaleExecutor(under.database);
    this.policies = new NaivePolicyStore(stale);
    const recorder = new EventRecorder(stale);
    this.outbox = new TypeormOutboxStore(stale, this.policies, recorder);
    this.ledger = new NaiveLedgerStore(stale);
    this.accounts = new TypeormAccountStore(stale);
    this.media = new TypeormMediaStore(stale);
    const slow = new StaleExecutor(under.database, () => settled(5));
    this.stores = [
      ...[new NaivePhoneStore(stale), new TypeormPartStore(stale, recorder), new TypeormOptOutStore(stale)],
      new NaiveSessionStore(stale, new TypeormSessionStore(slow)),
      new TypeormReceivedSmsStore(stale, recorder),
      new TypeormReceivedMessageStore(stale, recorder),
      new TypeormAddressStore(stale),
      new TypeormEventLog(stale, recorder),
      new TypeormEndpointStore(stale),
      ...[new TypeormUserSessionStore(stale), new TypeormAuditLog(stale)],
      ...[new TypeormUsageStore(stale), new TypeormOverviewStore(stale)],
      // No race is of it.
      under.store(RetentionStore),
    ];
  }

  static async open(): Promise<NaiveStorage> {
    return new NaiveStorage(await SqliteMemory.open());
  }

  override async start(): Promise<void> {}

  override store<S extends object>(port: Abstract<S>): S {
    const store = this.stores.find((each) => each instanceof port);
    if (store instanceof port) return store;
    throw new Error(`There is no naive ${port.name}.`);
  }

  override stop(): Promise<void> {
    return this.under.close();
  }
}
