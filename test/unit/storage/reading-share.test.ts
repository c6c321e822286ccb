import { expect, test } from '@jest/globals';
import { TypeormOutboxStore } from '../../../src/outbox/outbox-sql.js';
import { Executor, type Work } from '../../../src/storage/engine/executor.js';
import { ReadingShare } from '../../../src/storage/engine/reading-share.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';
import { settled } from '../../support/settled.js';

/** A database that answers reads when the test lets it; it notes the account that each of them asks for. */
class GatedExecutor extends Executor {
  override readonly dialect = new SqliteDialect();
  protected override readonly share: ReadingShare;
  /** The accounts of the reads that run, and of all that have begun. */
  readonly reading: string[] = [];
  readonly begun: string[] = [];
  private readonly answers: (() => void)[] = [];

  constructor(limit: number) {
    super();
    this.share = new ReadingShare(limit);
  }

  override async read<T>(work: Work<T>): Promise<T> {
    const operation = work();
    let step = operation.next();
    const account = step.done ? '' : String(step.value.params[0]);
    this.reading.push(account);
    this.begun.push(account);
    await new Promise<void>((resolve) => this.answers.push(resolve));
    while (!step.done) step = operation.next({ rows: [], affected: 0 });
    this.reading.splice(this.reading.indexOf(account), 1);
    return step.value;
  }

  /** Answers the read that has run the longest. */
  async answer(): Promise<void> {
    this.answers.shift()?.();
    await settled();
  }

  override write<T>(): Promise<T> {
    throw new Error('nothing is written');
  }

  override writeLazily<T>(): Promise<T> {
    throw new Error('nothing is written');
  }

  override whenCommitted(): void {}

  override async stop(): Promise<void> {}
}

function setup(limit: number) {
  const executor = new GatedExecutor(limit);
  const store = new TypeormOutboxStore(executor);
  const list = (accountId: string) => store.list({ accountId, channel: 'sms', kinds: ['text'], limit: 500 });
  return { executor, list };
}

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [9, 2],
])(
  'of %d listings at a time, one account has %d, and another one’s begins at once if there is room',
  async (limit, most) => {
    const { executor, list } = setup(limit);
    const all = [...Array(8).fill('a'), 'b'].map(list);
    await settled();
    expect(executor.reading).toEqual([...Array(most).fill('a'), ...(limit > 1 ? ['b'] : [])]);
    while (executor.reading.length > 0) {
      expect(executor.reading.filter((account) => account === 'a').length).toBeLessThanOrEqual(most);
      await executor.answer();
    }
    expect(await Promise.all(all)).toHaveLength(9);
  },
);

test('accounts take turns, however many listings one of them waits for', async () => {
  const { executor, list } = setup(1);
  const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(list);
  await settled();
  for (let count = 0; count < 7; count++) await executor.answer();
  await Promise.all(all);
  expect(executor.begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('a listing that fails gives its place on', async () => {
  const share = new ReadingShare(1);
  const failing = share.run(async () => {
    throw new Error('broken');
  }, 'a');
  const next = share.run(async () => 'read', 'a');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('read');
});

test('reads that are of no account use all that there is', async () => {
  const share = new ReadingShare(3);
  let running = 0;
  const ends: (() => void)[] = [];
  const reads = Array.from({ length: 5 }, () =>
    share.run(async () => {
      running++;
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
    }),
  );
  await settled();
  expect(running).toBe(3);
  while (ends.length > 0) {
    ends.shift()?.();
    await settled();
  }
  await Promise.all(reads);
});
