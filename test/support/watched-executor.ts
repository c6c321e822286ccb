import { Executor, type Work } from '../../src/storage/engine/executor.js';
import type { Operation } from '../../src/storage/engine/operation.js';

/** An executor that tells what goes through it, and fails when it is told to. */
export class WatchedExecutor extends Executor {
  override readonly dialect;
  reads = 0;
  writes = 0;
  /** The most bytes that the parameters of one transaction had. */
  largest = 0;
  /** Called inside of each transaction that writes, before its statements; may throw. */
  onWrite: () => void = () => undefined;

  constructor(private readonly inner: Executor) {
    super();
    this.dialect = inner.dialect;
  }

  override write<T>(work: Work<T>): Promise<T> {
    return this.inner.write(() => this.watch(work));
  }

  override writeLazily<T>(work: Work<T>): Promise<T> {
    return this.inner.writeLazily(() => this.watch(work));
  }

  override read<T>(work: Work<T>): Promise<T> {
    this.reads += 1;
    return this.inner.read(work);
  }

  override whenCommitted(): void {}

  override async stop(): Promise<void> {}

  private *watch<T>(work: Work<T>): Operation<T> {
    this.writes += 1;
    this.onWrite();
    const operation = work();
    let size = 0;
    let step = operation.next();
    while (!step.done) {
      for (const param of step.value.params) size += param instanceof Uint8Array ? param.length : 0;
      this.largest = Math.max(this.largest, size);
      step = operation.next(yield step.value);
    }
    return step.value;
  }
}
