import { DataSource } from 'typeorm';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { until } from '../common/until.js';
import type { AnsweredSend } from './crash-load.js';

/** A recipient's row, with the columns that these tests read. */
export interface StoredDelivery {
  /** `<smsID>:<position>` */
  readonly id: string;
  readonly channel: string;
  readonly number: string;
  readonly status: string;
}

/** Reads a database without the service. */
export class CrashBooks {
  private constructor(
    private readonly url: string,
    private readonly dataSource: DataSource,
  ) {}

  static async open(url: string): Promise<CrashBooks> {
    const dataSource = url.startsWith('sqlite:')
      ? new DataSource({ type: 'better-sqlite3', database: url.slice('sqlite:'.length), timeout: 10_000 })
      : new DataSource({ type: url.startsWith('postgres') ? 'postgres' : 'mysql', url });
    return new CrashBooks(url, await dataSource.initialize());
  }

  async close(): Promise<void> {
    await this.dataSource.destroy();
  }

  /** A statement of the test itself. */
  query(sql: string): Promise<Record<string, unknown>[]> {
    return this.dataSource.query(sql);
  }

  /** How many deliveries have not ended. */
  async unfinished(): Promise<number> {
    return this.number("SELECT count(*) FROM messaging_recipient WHERE status IN ('queued', 'sending', 'sent')");
  }

  /** Resolves when every delivery has ended. @throws Error if none ends for two minutes */
  async settled(): Promise<void> {
    let least = Number.POSITIVE_INFINITY;
    while (least > 0) {
      const before = least;
      least = await until(
        () => this.unfinished(),
        (count) => count < before,
        120_000,
      );
    }
  }

  async deliveries(): Promise<readonly StoredDelivery[]> {
    const sql = "SELECT concat(message_id, ':', position) AS id, channel, number, status FROM messaging_recipient";
    return this.dataSource.query(sql);
  }

  /**
   * All faults after all work has ended, as sentences: by `checkLedger()`, and by sums of this test's own.
   * @param answered everything that was ever answered on this database; each number costs one unit
   * @param units the units that the account was given
   * @param phones the sandbox was the carrier
   */
  async problems(answered: ReadonlyMap<string, AnsweredSend>, units: number, phones: boolean): Promise<string[]> {
    const problems = await this.sumProblems(units);
    const stored = new Map<string, number>();
    for (const { number } of await this.deliveries()) stored.set(number, (stored.get(number) ?? 0) + 1);
    const sent = [...answered].flatMap(([key, { numbers }]) => numbers.map((number) => ({ key, number })));
    for (const { key, number } of sent) {
      const times = stored.get(number) ?? 0;
      if (times === 0) problems.push(`${key} was answered and is lost`);
      if (times > 1) problems.push(`${key} was answered and is stored ${times} times`);
    }
    if (stored.size !== sent.length) problems.push(`${sent.length} numbers were answered, ${stored.size} are stored`);
    const messages = await this.number('SELECT count(*) FROM messaging_message');
    if (messages !== answered.size) problems.push(`${answered.size} keys have ${messages} messages`);
    const charged = -(await this.number("SELECT sum(units) FROM messaging_ledger WHERE kind = 'charge'"));
    if (charged !== sent.length) problems.push(`${sent.length} numbers were answered, ${charged} units charged`);
    problems.push(...(await this.keyProblems(answered)));
    for (const { id, channel, status } of await this.deliveries()) {
      if (['queued', 'sending', 'sent'].includes(status))
        problems.push(`${channel} ${id} has no final state: ${status}`);
    }
    if (phones) {
      const shown = (await this.query('SELECT message_id FROM messaging_phone_message')).map(first);
      if (shown.length !== messages || new Set(shown).size !== messages) {
        problems.push(`${messages} messages show ${shown.length} times`);
      }
    }
    return problems;
  }

  /** The faults by `checkLedger()` and by sums that must agree, whoever sent whatever. */
  async sumProblems(units: number): Promise<string[]> {
    const sum = (column: string, table: string, where = '1 = 1') =>
      this.number(`SELECT sum(${column}) FROM messaging_${table} WHERE ${where}`);
    const balance = await sum('balance', 'account');
    const postings = await sum('units', 'ledger');
    const charged = -(await sum('units', 'ledger', "kind = 'charge'"));
    const refunded = await sum('units', 'ledger', "kind = 'refund'");
    const ofRecipients = await sum('units', 'recipient');
    const backToRecipients = await sum('refunded_units', 'recipient');
    const problems = [...(await this.ledgerProblems())];
    if (balance !== postings) problems.push(`the balance is ${balance}, the postings make ${postings}`);
    if (charged !== ofRecipients) problems.push(`${charged} units were charged, ${ofRecipients} for recipients`);
    if (refunded !== backToRecipients)
      problems.push(`${refunded} units were refunded, ${backToRecipients} for recipients`);
    if (balance !== units - ofRecipients + backToRecipients) problems.push(`${balance} units are left`);
    const messages = await this.number('SELECT count(*) FROM messaging_message');
    const charges = await this.number("SELECT count(DISTINCT message_id) FROM messaging_ledger WHERE kind = 'charge'");
    if (charges !== messages) problems.push(`${messages} messages have ${charges} charges`);
    return problems;
  }

  /** One key, one kept reply, and the answer equals it. */
  private async keyProblems(answered: ReadonlyMap<string, AnsweredSend>): Promise<string[]> {
    const rows = await this.query('SELECT idempotency_key, reply FROM messaging_idempotency');
    const kept = new Map(rows.map(({ idempotency_key, reply }) => [String(idempotency_key), String(reply)]));
    const problems = [...answered]
      .filter(([key, { text }]) => kept.get(key) !== text)
      .map(([key, { text }]) => `${key} was answered ${text}, and ${kept.get(key) ?? 'nothing'} is kept`);
    if (rows.length !== answered.size) problems.push(`${answered.size} keys were answered, ${rows.length} are kept`);
    return problems;
  }

  private async ledgerProblems(): Promise<readonly string[]> {
    const storage = new TypeormStorage({ database: this.url, migrations: 'check' });
    await storage.start();
    try {
      return await storage.store(LedgerStore).check();
    } finally {
      await storage.stop();
    }
  }

  private async number(sql: string): Promise<number> {
    const [row] = await this.query(sql);
    return Number(first(row ?? {}) ?? 0);
  }
}

function first(row: Record<string, unknown>): unknown {
  return Object.values(row)[0];
}
