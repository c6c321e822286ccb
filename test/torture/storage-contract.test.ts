import { describe, expect, test } from '@jest/globals';
import { describeStorage } from '../contract/storage/storage-contract.js';
import { CollectRunner } from '../support/jest/collect-runner.js';
import { failingNaively, openMemory } from '../support/storage/storage-contract-runs.js';
import { note } from './form.js';

// test/unit/testing/storage-contract.test.ts shows in each run that it fails every race test.
describe('the contract suite of storages', () => {
  const collected = new CollectRunner();
  describeStorage('it', openMemory, collected);
  const topics = [...new Set(collected.names.map((name) => name.split(' > ')[1] ?? ''))];

  test.each(topics.filter((topic) => topic !== 'races'))(
    'a naive storage fails no test that is not about races, and is closed: %s',
    async (topic) => {
      expect(await failingNaively(topic)).toEqual({ failed: [], open: 0 });
      note('The contract of storages, on a naive one', { topic });
    },
    240_000,
  );
});
