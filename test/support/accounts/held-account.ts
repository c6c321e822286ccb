import { Client } from 'pg';
import { until } from '../common/until.js';

/** An account's row, locked by another PostgreSQL transaction. */
export class HeldAccount {
  private constructor(private readonly client: Client) {}

  static async hold(url: string, accountId: string): Promise<HeldAccount> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM messaging_account WHERE id = $1 FOR UPDATE', [accountId]);
    return new HeldAccount(client);
  }

  /**
   * Resolves when somebody waits for the row. Reads the locks, which are always current: within one transaction
   * `pg_stat_activity` keeps showing the backends of its first read, and none that connects later.
   */
  async awaited(): Promise<void> {
    await until(
      async () => {
        const { rows } = await this.client.query(
          `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`,
        );
        return Number(rows[0]?.n);
      },
      (waiting) => waiting > 0,
    );
  }

  async release(): Promise<void> {
    await this.client.query('ROLLBACK');
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
