import { describeStorage } from '../../contract/storage/storage-contract.js';
import type { OpenStorage, StoragePart } from '../../contract/storage/storage-harness.js';
import { NaiveStorage } from '../databases/naive-storage.js';
import { harnessOf, SqliteMemory } from '../databases/sqlite-memory.js';
import { CollectRunner } from '../jest/collect-runner.js';

/** A database in memory that passes the whole contract. */
export const openMemory: OpenStorage = async () => harnessOf(await SqliteMemory.open());

/** What the harness of a storage lacks that is all there is, without a look into its database. */
export const LACKS: readonly StoragePart[] = ['reopen', 'another', 'tamper', 'messageUnits', 'recipientUnits'];

/** Runs the contract suite inside a test. Returns the names of the tests that failed. */
export async function failing(open: OpenStorage, topic: string, lacks: readonly StoragePart[] = []): Promise<string[]> {
  const runner = new CollectRunner();
  describeStorage('it', open, runner, lacks);
  const results = await runner.run(`it > ${topic} > `);
  return [...results].flatMap(([name, failure]) => (failure === undefined ? [] : [name.slice('it > '.length)]));
}

/** Runs it on a storage without transactions. Returns the tests that failed, and how many storages stayed open. */
export async function failingNaively(topic: string): Promise<{ readonly failed: string[]; readonly open: number }> {
  let opened = 0;
  const openNaive: OpenStorage = async () => {
    opened += 1;
    const storage = await NaiveStorage.open();
    const close = async () => {
      await storage.stop();
      opened -= 1;
    };
    return { storage, close, another: async () => storage };
  };
  const lacks = LACKS.filter((part) => part !== 'another');
  return { failed: (await failing(openNaive, topic, lacks)).sort(), open: opened };
}
