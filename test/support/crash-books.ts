import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';
import type { AnsweredSend } from './crash-load.js';

/** A recipient's row, as far as these tests look. */
export interface StoredDelivery {
  readonly id: string;
  readonly number: string;
  readonly status: string;
}

/** Looks into a database behind the service's back. */
export class CrashBooks {
  private readonly dataSource: DataSource;

  private constructor(private readonly url: string) {
    this.dataSource = new DataSource(
      url.startsWith('sqlite:')
        ? { type: 'better-sqlite3', database: url.slice('sqlite:'.length) }
        : { type: 'postgres', url },
    );
  }

  static async open(url: string): Promise<CrashBooks> {
    const books = new CrashBooks(url);
    await books.dataSource.initialize();
    return books;
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }

  /** How many deliveries are not over. */
  async unfinished(): Promise<number> {
    const [row] = await this.dataSource.query(
      "SELECT count(*) AS n FROM messaging_recipient WHERE status IN ('queued', 'sending', 'sent')",
    );
    return Number(row.n);
  }

  /** Every delivery by `<smsID>:<position>`. */
  async deliveries(): Promise<readonly StoredDelivery[]> {
    return this.dataSource.query(
      `SELECT ${this.place('message_id', 'position')} AS id, number, status FROM messaging_recipient`,
    );
  }

  /** Everything that is wrong after all has come to rest, in sentences; `phones`: the sandbox was the carrier. */
  async problems(answered: ReadonlyMap<string, AnsweredSend>, units: number, phones: boolean): Promise<string[]> {
    const problems = [...(await this.ledgerProblems())];
    const stored = new Set(await this.column('SELECT id FROM messaging_message'));
    for (const [key, { smsId }] of answered) if (!stored.has(smsId)) problems.push(`${key} was answered and is lost`);
    if (stored.size !== answered.size) problems.push(`${answered.size} keys have ${stored.size} messages`);
    const charges = await this.column("SELECT message_id FROM messaging_ledger WHERE kind = 'charge'");
    if (charges.length !== stored.size) problems.push(`${stored.size} messages have ${charges.length} charges`);
    const balances = await this.column('SELECT balance FROM messaging_account');
    if (Number(balances[0]) !== units - stored.size) problems.push(`${balances[0]} units are left`);
    if ((await this.unfinished()) > 0) problems.push('a message has no final state');
    if (phones) {
      const shown = await this.column('SELECT message_id FROM messaging_phone_message');
      if (shown.length !== stored.size || new Set(shown).size !== stored.size) {
        problems.push(`${stored.size} messages show ${shown.length} times`);
      }
    }
    return problems;
  }

  private async ledgerProblems(): Promise<readonly string[]> {
    const storage = new TypeormStorage({ database: this.url, migrations: 'check' });
    await storage.start();
    try {
      return await storage.ledger.check();
    } finally {
      await storage.stop();
    }
  }

  private async column(sql: string): Promise<string[]> {
    const rows: Record<string, unknown>[] = await this.dataSource.query(sql);
    return rows.map((row) => String(Object.values(row)[0]));
  }

  private place(...columns: readonly [string, string]): string {
    return columns.join(" || ':' || ");
  }
}
