import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';

/** Cuts every connection to a PostgreSQL database but its own, again and again, like a failing server. */
export class BackendTerminator {
  /** Connections cut so far. */
  cut = 0;
  private going = true;
  private run: Promise<void> = Promise.resolve();

  private constructor(private readonly client: Client) {}

  static async start(url: string): Promise<BackendTerminator> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const terminator = new BackendTerminator(client);
    terminator.run = terminator.work();
    return terminator;
  }

  async stop(): Promise<void> {
    this.going = false;
    await this.run;
    await this.client.end();
  }

  private async work(): Promise<void> {
    while (this.going) {
      await pause(50 + Math.random() * 50);
      const { rows } = await this.client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
      this.cut += rows.length;
    }
  }
}
