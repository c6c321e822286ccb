import { DataSource, type DataSourceOptions } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { findStranded } from '../../../src/msgapp/sessions/session-changes.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import type { Row, Statement } from '../../../src/storage/engine/operation.js';
import { ACCOUNT, aSend, aSession, range, recipients, START, sessionId } from '../../contract/storage/fixtures.js';

/** How many sessions have ended with nothing left, and how many deliveries wait in the one stranded lane. */
export const ENDED = 400;
export const LEFT = 400;

/** Deliveries that a round examines. */
export const LOOKED_AT = 20;

/** The lanes with deliveries. The session of the last one has ended. */
export const LANES = [1, 2, 3].map(sessionId);

/** A storage with sessions that have ended, one of them with deliveries left, and two live ones with deliveries. */
export class EndedSessions {
  private constructor(
    readonly database: DataSource,
    readonly storage: TypeormStorage,
    /** The statements that look for stranded sessions, as the database gets them. */
    readonly look: readonly Statement[],
  ) {}

  static async open(options: DataSourceOptions): Promise<EndedSessions> {
    const database = await new DataSource(options).initialize();
    const storage = new TypeormStorage({ database });
    await storage.start();
    const { dialect } = await databaseFor(database);
    const operation = findStranded(dialect, 'wa', '', LOOKED_AT);
    const look: Statement[] = [];
    // The deliveries that a look finds in the lanes.
    const rows: Row[] = LANES.map((lane) => ({ lane }));
    for (let step = operation.next(); !step.done; step = operation.next({ rows, affected: 0 })) {
      look.push(dialect.native(step.value));
    }
    const ended = new EndedSessions(database, storage, look);
    await ended.fill();
    return ended;
  }

  async close(): Promise<void> {
    await this.storage.stop();
    await this.database.destroy();
  }

  private async fill(): Promise<void> {
    const accounts = this.storage.store(AccountStore);
    const ledger = this.storage.store(LedgerStore);
    const outbox = this.storage.store(OutboxStore);
    const sessions = this.storage.store(SessionStore);
    await accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10 * LEFT, at: START });
    const all = range(ENDED);
    const leases = await Promise.all(all.map((index) => sessions.create(aSession(index))));
    const lane = (index: number) => ({ channel: 'wa', lane: sessionId(index) });
    await outbox.commit([aSend(1, { ...lane(3), recipients: recipients(LEFT) })], decide);
    await outbox.commit([aSend(2, lane(1)), aSend(3, lane(2)), aSend(4, { recipients: recipients(LEFT) })], decide);
    const living = new Set([1, 2].map(sessionId));
    const over = leases.filter(({ sessionId: id }) => !living.has(id));
    await Promise.all(over.map((lease) => sessions.move(lease, { to: 'expired', reason: 'not_scanned', at: START })));
  }
}
