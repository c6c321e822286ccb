import { DataSource, type DataSourceOptions } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import type { Statement } from '../../../src/storage/engine/operation.js';
import { type StorageMeasures, StorageMeter } from '../../../src/telemetry/storage-meter.js';
import { range, START } from '../../contract/storage/fixtures.js';
import { WatchedDatabase } from '../databases/watched-database.js';

/** The time of every measurement. */
export const NOW = START + 60_000;

/** Deliveries that wait, by account, and rows that no gauge counts. */
export const ACCOUNTS = 50;
export const WAITING = 40;
const DONE = 30_000;

/** A database with a backlog, and a storage on it. */
export class MeasureFixture {
  private constructor(
    readonly database: DataSource,
    readonly storage: TypeormStorage,
  ) {}

  static async open(options: DataSourceOptions): Promise<MeasureFixture> {
    const database = await new DataSource(options).initialize();
    const storage = new TypeormStorage({ database });
    await storage.start();
    const world = new MeasureFixture(database, storage);
    await world.fill();
    return world;
  }

  /** The values that a process measures, and the statements that it uses. */
  async measure(): Promise<{ readonly measures: StorageMeasures; readonly statements: readonly Statement[] }> {
    const db = new WatchedDatabase(await databaseFor(this.database, undefined, false));
    const measures = await new StorageMeter(db).measure({ now: NOW, channels: ['sms', 'whatsapp'] });
    return { measures, statements: db.readStatements.map((each) => db.dialect.native(each)) };
  }

  async close(): Promise<void> {
    await this.storage.stop();
    await this.database.destroy();
  }

  private async fill(): Promise<void> {
    const recipient =
      'message_id, position, channel, number, units, refunded_units, status, priority, attempt, due_at, updated_at, queue';
    await this.insert('messaging_recipient', recipient, [
      ...range(DONE).map((i) => `('done-${i}', 0, 'sms', '1', 1, 0, 'delivered', 0, 1, NULL, ${i}, '')`),
      ...range(DONE).map((i) => `('sent-${i}', 0, 'sms', '1', 1, 0, 'sent', 0, 1, ${START + i}, ${i}, '')`),
      ...range(ACCOUNTS).flatMap((account) =>
        range(WAITING).map((i) => {
          // The oldest of all has waited for 30 s. Postponed deliveries are not due.
          const due = i === 0 ? START + 30_000 + account : NOW + 1000;
          return `('q-${account}-${i}', 0, 'sms', '1', 1, 0, 'queued', 0, 0, ${due}, 0, 'acc-${account}')`;
        }),
      ),
      `('code', 0, 'sms', '1', 1, 0, 'queued', -2, 0, ${START + 50_000}, 0, 'acc-7')`,
      `('now', 0, 'sms', '1', 1, 0, 'sending', 0, 1, ${NOW + 1000}, 0, '')`,
      `('app', 0, 'whatsapp', '1', 1, 0, 'queued', 0, 0, ${START + 59_000}, 0, '')`,
    ]);
    await this.insert('messaging_account', 'id, name, balance, created_at, low, low_below', [
      ...range(2000).map((i) => `('acc-${i}', 'A', 5, 0, NULL, NULL)`),
      ...range(3).map((i) => `('low-${i}', 'A', 5, 0, 2, 10)`),
    ]);
    await this.insert('messaging_sms_parked', 'receipt_id, carrier_id, route, counts_for, receipt, expires_at', [
      `('r-1', 'c-1', 'a', 'a', '{}', 0)`,
      `('r-1', 'c-2', 'a', NULL, '{}', 0)`,
    ]);
    await this.insert(
      'messaging_session',
      'id, account_id, channel, status, reason, created_at, updated_at, epoch, steps, lease_until',
      [
        ...range(2).map((i) => `('s-${i}', 'acc-1', 'whatsapp', 'connected', '', 0, 0, 1, 0, ${NOW})`),
        `('s-3', 'acc-1', 'whatsapp', 'reconnecting', '', 0, 0, 1, 0, ${NOW})`,
        ...range(2000).map((i) => `('over-${i}', 'acc-1', 'whatsapp', 'banned', '', 0, 0, 1, 0, NULL)`),
      ],
    );
    await this.insert(
      'messaging_campaign',
      'id, account_id, name, signature, content, national, status, batches, importing_until, recipients, accepted, place, units, due_at, paced_at, paced_from, folded_to, working, lease_until, epoch, created_at, updated_at',
      ['running', 'running', 'draft'].map(
        (status, i) =>
          `('c-${i}', 'acc-1', 'A', 'INFOS', 'A', 0, '${status}', 0, 0, 1, 0, '', 0, 0, 0, 0, 0, ${status === 'draft' ? 0 : 1}, 0, 0, 0, 0)`,
      ),
    );
    await this.insert('messaging_event_counter', 'id, sequence, earliest, recording, used_at', [
      `('acc-1', 3000, 1, 1, 0)`,
      `('acc-2', 3000, 1, 1, 0)`,
    ]);
    await this.insert('messaging_event', 'account_id, sequence, type, at, data', [
      ...range(3000).map((i) => `('acc-1', ${i + 1}, 'message.sent', ${START + i}, '{}')`),
      ...range(3000).map(
        (i) => `('acc-2', ${i + 1}, '${i === 2990 ? 'balance.low' : 'message.sent'}', ${START + i}, '{}')`,
      ),
    ]);
    const endpoint =
      'id, account_id, url, types, ordering, batch_max, wait_ms, signature, versions, status, cursor_at, lease_until, epoch, created_at, updated_at';
    const rest = (status: string, cursor: number) => `'none', 1, 0, 'hmac', '[]', '${status}', ${cursor}, 0, 0, 0, 0)`;
    await this.insert('messaging_endpoint', endpoint, [
      `('e-1', 'acc-1', 'u', NULL, ${rest('enabled', 2999)}`,
      `('e-2', 'acc-2', 'u', '["balance.low"]', ${rest('enabled', 5)}`,
      `('e-3', 'acc-1', 'u', NULL, ${rest('disabled', 0)}`,
    ]);
  }

  private async insert(table: string, columns: string, rows: readonly string[]): Promise<void> {
    for (let at = 0; at < rows.length; at += 500) {
      await this.database.query(`INSERT INTO ${table} (${columns}) VALUES ${rows.slice(at, at + 500).join(', ')}`);
    }
  }
}

/** The values that the fixture shows, without those that only some databases have. */
export const MEASURES = {
  open: [
    { channel: 'sms', status: 'queued', count: ACCOUNTS * WAITING + 1 },
    { channel: 'sms', status: 'sending', count: 1 },
    { channel: 'whatsapp', status: 'queued', count: 1 },
    { channel: 'whatsapp', status: 'sending', count: 0 },
  ],
  scheduled: [
    { channel: 'sms', count: ACCOUNTS * (WAITING - 1) },
    { channel: 'whatsapp', count: 0 },
  ],
  due: [
    { channel: 'sms', priority: 'code', since: START + 50_000 },
    { channel: 'sms', priority: 'normal', since: START + 30_000 },
    { channel: 'whatsapp', priority: 'normal', since: START + 59_000 },
  ],
  lowAccounts: 3,
  parkedReceipts: 1,
  sessions: [
    { channel: 'whatsapp', state: 'connected', count: 2 },
    { channel: 'whatsapp', state: 'reconnecting', count: 1 },
  ],
  campaigns: [{ state: 'running', count: 2 }],
  endpoints: [
    { state: 'disabled', count: 1 },
    { state: 'enabled', count: 2 },
  ],
  uncalledSince: START + 2990,
} as const;

/** Sorts the measures, because no database promises an order. */
export function sorted(measures: StorageMeasures): StorageMeasures {
  const byText = <T>(list: readonly T[]): T[] =>
    [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return {
    ...measures,
    open: byText(measures.open),
    scheduled: byText(measures.scheduled),
    due: byText(measures.due),
    sessions: byText(measures.sessions),
    endpoints: byText(measures.endpoints),
  };
}
