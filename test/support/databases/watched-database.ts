import { Database, type Work } from '../../../src/storage/engine/database.js';
import type { Operation, Statement, StatementResult } from '../../../src/storage/engine/operation.js';

/** Passes everything on to another database, counts what passes, and fails a write if the test says so. */
export class WatchedDatabase extends Database {
  override readonly dialect;
  reads = 0;
  writes = 0;
  /** The statements of all reads. */
  readonly readStatements: Statement[] = [];
  /** The size of the rows of all reads in bytes, as JSON. */
  readBytes = 0;
  /** The largest size in bytes of the parameters of one transaction. */
  largest = 0;
  /** Called inside each write transaction, before its statements. May throw. */
  onWrite: () => void = () => undefined;

  constructor(private readonly inner: Database) {
    super();
    this.dialect = inner.dialect;
  }

  override write<T>(work: Work<T>): Promise<T> {
    return this.inner.write(() => this.watchWrite(work));
  }

  override writeLazily<T>(work: Work<T>): Promise<T> {
    return this.inner.writeLazily(() => this.watchWrite(work));
  }

  override read<T>(work: Work<T>): Promise<T> {
    this.reads += 1;
    return this.inner.read(() => this.watchRead(work));
  }

  override whenCommitted(): void {}

  override async stop(): Promise<void> {}

  private watchWrite<T>(work: Work<T>): Operation<T> {
    this.writes += 1;
    this.onWrite();
    let size = 0;
    return watched(work, ({ params }) => {
      for (const param of params) size += param instanceof Uint8Array ? param.length : 0;
      this.largest = Math.max(this.largest, size);
    });
  }

  private watchRead<T>(work: Work<T>): Operation<T> {
    return watched(work, (statement, { rows }) => {
      this.readStatements.push(statement);
      this.readBytes += Buffer.byteLength(JSON.stringify(rows));
    });
  }
}

/** Runs an operation and calls `look` after each of its statements. */
function* watched<T>(work: Work<T>, look: (statement: Statement, result: StatementResult) => void): Operation<T> {
  const operation = work();
  let step = operation.next();
  while (!step.done) {
    const result = yield step.value;
    look(step.value, result);
    step = operation.next(result);
  }
  return step.value;
}
