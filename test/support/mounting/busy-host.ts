import { setTimeout } from 'node:timers/promises';
import type { DataSource } from 'typeorm';

/** How long each of its transactions is open. */
const HOLD_MS = 20;

/**
 * A host that works on its own tables: one transaction after the other, each open for a while, every second one rolled
 * back, without a pause between them.
 */
export class BusyHost {
  readonly committed: string[] = [];
  readonly rolledBack: string[] = [];
  /** Transactions that failed although neither the host nor this class intended it. */
  failures = 0;
  private going = true;
  private run: Promise<void> = Promise.resolve();

  private constructor(private readonly dataSource: DataSource) {}

  static async start(dataSource: DataSource): Promise<BusyHost> {
    await dataSource.query('CREATE TABLE host_row (name varchar(40) PRIMARY KEY)');
    const host = new BusyHost(dataSource);
    host.run = host.work();
    return host;
  }

  /** The host's rows as they are stored. */
  async rows(): Promise<string[]> {
    const rows: { name: string }[] = await this.dataSource.query('SELECT name FROM host_row ORDER BY name');
    return rows.map(({ name }) => name);
  }

  async stop(): Promise<void> {
    this.going = false;
    await this.run;
  }

  private async work(): Promise<void> {
    for (let count = 1000; this.going; count++) await this.one(`row ${count}`, count % 2 === 0);
  }

  private async one(name: string, commits: boolean): Promise<void> {
    const undo = new Error('rolled back on purpose');
    try {
      await this.dataSource.transaction(async (manager) => {
        await manager.query(`INSERT INTO host_row (name) VALUES ('${name}')`);
        await setTimeout(HOLD_MS);
        if (!commits) throw undo;
      });
      this.committed.push(name);
    } catch (error) {
      if (error === undo) this.rolledBack.push(name);
      else this.failures++;
    }
  }
}
