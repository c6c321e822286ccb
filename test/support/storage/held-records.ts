import type { DataSource } from 'typeorm';
import type { IfLocked } from '../../../src/storage/dialect.js';
import { Database, type Work } from '../../../src/storage/engine/database.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import type { Operation } from '../../../src/storage/engine/operation.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';

/** Marks a statement that waits for the rows of its ids. */
const WAITS = '/* waits */';

class HeldError extends Error {
  constructor(readonly free: Promise<unknown>) {
    super('A record is held.');
  }
}

/** SQLite with row locks, as far as our operations can tell. */
class LockingDialect extends SqliteDialect {
  constructor(private readonly held: ReadonlyMap<string, unknown>) {
    super();
  }

  override lock(): string {
    return ' ';
  }

  override lockByIds(table: string, columns: string, ifLocked: IfLocked): string {
    const passed = ifLocked === 'wait' ? [] : [...this.held.keys()];
    const others = `a.id NOT IN (${passed.map((id) => `'${id}'`).join(', ')})`;
    const mark = ifLocked === 'wait' ? WAITS : '';
    return `SELECT ${columns} FROM ${table} a WHERE a.id ${this.among()} AND ${others} ORDER BY a.id ${mark}`;
  }

  override *heldIds(_table: string, ids: readonly string[], ifLocked: IfLocked): Operation<readonly string[]> {
    if (ifLocked === 'wait') yield { sql: `SELECT count(*) FROM json_each(?) ${WAITS}`, params: [JSON.stringify(ids)] };
    return ifLocked === 'wait' ? [] : ids.filter((id) => this.held.has(id));
  }
}

/**
 * A database that runs transactions concurrently on eight connections, and whose rows a test locks. A transaction that
 * reaches a locked row keeps its connection, and starts again when the row is free.
 */
export class HeldRecords extends Database {
  private readonly held = new Map<string, Promise<unknown>>();
  override readonly dialect = new LockingDialect(this.held);
  transactions = 0;
  /** How many transactions are open, and the most at a time. */
  open = 0;
  maxOpen = 0;
  /** How many of them wait. */
  waiting = 0;

  private constructor(private readonly inner: Database) {
    super();
  }

  static async on(dataSource: DataSource): Promise<HeldRecords> {
    return new HeldRecords(await databaseFor(dataSource));
  }

  override get maxTransactions(): number {
    return 8;
  }

  /** Locks a row, or the id of one that is about to be created. Call the returned function to release it. */
  hold(id: string): () => void {
    let release = () => {};
    this.held.set(id, new Promise<void>((resolve) => (release = resolve)));
    return () => {
      this.held.delete(id);
      release();
    };
  }

  override async write<T>(work: Work<T>): Promise<T> {
    this.transactions += 1;
    this.maxOpen = Math.max(this.maxOpen, ++this.open);
    try {
      return await this.attempt(work);
    } finally {
      this.open -= 1;
    }
  }

  override writeLazily<T>(work: Work<T>): Promise<T> {
    return this.write(work);
  }

  override read<T>(work: Work<T>): Promise<T> {
    return this.inner.read(work);
  }

  override whenCommitted(): void {}

  override async stop(): Promise<void> {}

  private async attempt<T>(work: Work<T>): Promise<T> {
    try {
      return await this.inner.write(() => this.watch(work));
    } catch (error) {
      if (!(error instanceof HeldError)) throw error;
      this.waiting += 1;
      await error.free;
      this.waiting -= 1;
      return this.attempt(work);
    }
  }

  private *watch<T>(work: Work<T>): Operation<T> {
    const operation = work();
    let step = operation.next();
    while (!step.done) {
      if (step.value.sql.includes(WAITS)) this.checkFree(JSON.parse(String(step.value.params[0])));
      step = operation.next(yield step.value);
    }
    return step.value;
  }

  private checkFree(ids: readonly string[]): void {
    for (const id of ids) {
      const free = this.held.get(id);
      if (free) throw new HeldError(free);
    }
  }
}
