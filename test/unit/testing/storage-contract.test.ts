import { describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { describeStorage } from '../../contract/storage/storage-contract.js';
import type { OpenStorage } from '../../contract/storage/storage-harness.js';
import { globalRunner } from '../../contract/test-runner.js';
import { harnessOf, SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { CollectRunner } from '../../support/jest/collect-runner.js';
import { failing, failingNaively, LACKS, openMemory } from '../../support/storage/storage-contract-runs.js';
import { STORAGE_FAULTS } from '../../support/storage/storage-faults.js';

const RACES = [
  '200 sends at once on a balance for 100: exactly 100 are accepted',
  'batches over many accounts at once, in any order of accounts: they spend exactly what the balances cover',
  '200 sends at once that do not wait: a busy one has written nothing',
  'batches over many accounts at once that do not wait: they spend exactly what the balances cover',
  '50 sends at once under one key: one is accepted, 49 get its answer',
  'one id 20 times at once: stored and charged once',
  'one posting 50 times at once: posted once',
  '20 ids posted to ten accounts at once: one of them gets the units, the others find it taken',
  '200 adjustments down at once on a balance for 100: exactly 100 are posted',
  'sends, top-ups and refunds of one account at once: no unit is lost or created',
  '200 sends at once on a key for 100 units: exactly 100 are accepted',
  '200 sends at once of two keys of one family, in batches and beside sends without a cap: no unit above it',
  '20 claimers at once never get the same delivery',
  '20 claimers at once on several accounts and priorities: each delivery is claimed once, and none is left',
  '20 claimers at once in lanes: they get one delivery a lane, its first',
  '20 claimers at once on abandoned deliveries: each is taken over once',
  '50 identical failures at once: one refund',
  'the same reports at once in different orders: each moves its delivery once',
  'failed and delivered at once: one of them wins, and the balance agrees with it',
  'a retry and a takeover at once: one of them wins',
  '20 expiries at once: each delivery becomes unknown once',
  '10 cancellations and 10 claims at once: a recipient is either canceled and refunded, or claimed',
  '20 cancellations at once: each recipient is refunded once',
  'sends rescheduled while they are claimed: each is moved as a whole, or not at all',
  'a large send rescheduled while it is claimed: all of it is moved, or nothing',
  'two changes of one send at once: both are in its schedule',
  'one account 20 times at once: created once',
  'one key id 20 times at once: added once',
  'keys made 20 times at once under one Idempotency-Key: one is made, and everybody gets its reply',
  'one signature 20 times at once: registered once, and everybody gets the same answer',
  'one phone message 20 times at once, among others: stored once',
  '200 steps at once on one record that did not exist: each counts',
  'the same recipients accepted 10 times at once: they leave the campaign once, and are charged once',
  'slices and pauses at once: what the campaign has counted is what was charged',
  'slices, a worker and two cancellations at once: what nobody has claimed is refunded once',
  'templates made at once: only the last free places are taken',
  'log-in hooks made at once: an account gets at most 20',
  '20 processes reserve places for different numbers at once: no more are admitted than there are places',
  '200 right codes at once: one is verified',
  '200 wrong codes at once: exactly three are compared',
  '100 wrong codes at once over 20 services: exactly ten are compared, then the number is locked',
  'right codes and resends at once: one success, one code, and a verified code is not sent again',
  '40 sends to one number at once that wait for no record while they lock their account: 20 are accepted',
  '40 sends to one number at once, over two accounts, with a cap of 20 over all accounts: 20 are accepted',
  'a receipt and the record of its part at once, 40 times: none is lost',
  'one receipt 20 times at once: its SMS moves once',
  'receipts for all parts of an SMS at once: it is delivered once',
  'receipts for two hand-offs of an SMS over two routes at once, 20 times: each fails once',
  'receipts under one id for everything at once: each applies to an SMS of its own',
  'a receipt and the record of its part at once, although an older part has its id, 20 times: none is lost',
  'one session id 20 times at once: created once',
  '40 sessions of one account requested at once, of which ten may wait: ten are created',
  '20 owners take one free session at once: exactly one has it',
  'renewals and takeovers of ended leases: each session has one owner',
  'an owner that writes while it is replaced: nothing that it writes after that is stored',
  'a session ends while its credentials are written: none are left',
  'the same step 20 times at once: taken once',
  'steps of all kinds at once: they follow each other, and the last one is the state of the session',
  'old sessions are deleted 20 times at once: each is counted once',
  'one file id 20 times at once: kept once',
  'the same numbers opted out 20 times at once: each is added once',
  'the same numbers taken back 20 times at once: each is removed once',
  'the same texts received 20 times at once: each is one event',
  'the parts of 20 long texts at once: each is complete once, and one event although it is passed on 20 times',
  'the last part of a text while the others are passed on, 20 times: no part is lost, and none counts twice',
  'ten people heard of 20 times at once, by identity, by number, by both: each is one contact, identified once',
  '40 people write again while their contacts are purged: each has one contact afterwards',
  'the same messages of an app received 20 times at once: each is one event',
  '30 endpoints created at once: 20 exist',
  'an endpoint made 10 times at once under one key is there once',
  'a secret rotated 10 times at once: each rotation counts, and those under one key once',
  'one link used 50 times at once: one session begins',
  'a link made 10 times at once under one key is there once',
  'one refresh token used 20 times at once: it is replaced once, and every caller learns the new one',
  'links used while the sessions of their user are ended: none is left, and each was used or revoked',
  'a session ended 20 times at once: its end is recorded once',
  'batches over the same accounts in opposite orders at once: each event is there once, and no number is ever missing',
  '20 recipients of one send at once: it is complete once',
  'marks numbered 20 times at once: each has one number',
  'usage read and rolled up while sends and refunds of its hours are committed: it agrees with the ledger',
  'redactions and an erasure of the same events at once: what each has removed stays removed',
  'a log switched on while deliveries are settled: everything stored after that is in it, and each send is completed',
];

const openPublic: OpenStorage = async () => {
  const storage = new MemoryStorage();
  await storage.start();
  return { storage, close: () => storage.stop() };
};

// The contract itself runs on this class with a file: see sqlite-storage.test.ts.
test('MemoryStorage forgets everything when it stops, and two instances share nothing', async () => {
  const [one, other] = [new MemoryStorage(), new MemoryStorage()];
  const account = { id: 'a', name: 'A', createdAt: 1 };
  await Promise.all([one.start(), other.start()]);
  expect(await one.store(AccountStore).createAccount(account)).toBe(true);
  expect(await other.store(AccountStore).findAccount('a')).toBeUndefined();
  await one.stop();
  await one.start();
  expect(await one.store(AccountStore).findAccount('a')).toBeUndefined();
  await Promise.all([one.stop(), other.stop()]);
});

describe('the contract suite can fail', () => {
  const raced = RACES.flatMap((name) => [
    `races > ${name}`,
    `races > across two instances > ${name} (where the harness has another)`,
  ]);

  test('a missing part of a harness is skipped if the harness says so, and fails otherwise', async () => {
    const [said, silent] = [new CollectRunner(), new CollectRunner()];
    describeStorage('it', openPublic, said, LACKS);
    describeStorage('it', openPublic, silent);
    const failed = [...(await silent.run('it > durability > ')), ...(await silent.run('it > books > '))];
    const lacking = failed.flatMap(([name, failure]) => (failure === undefined ? [] : [[name, String(failure)]]));
    expect(lacking.length).toBeGreaterThan(20);
    for (const [name, failure] of lacking) {
      expect(said.skipped).toContain(name);
      expect(failure).toMatch(
        /^Error: The harness lacks (reopen|tamper|messageUnits|recipientUnits): pass it in "lacks"/,
      );
    }
  });

  const collected = new CollectRunner();
  describeStorage('it', openMemory, collected);

  // That it fails nothing else is shown by test/torture/storage-contract.test.ts.
  test('a naive storage fails every race test, and is closed', async () => {
    expect(await failingNaively('races')).toEqual({ failed: raced.sort(), open: 0 });
  });

  test('no race test is missing here', () => {
    const names = collected.names.filter((name) => name.startsWith('it > races > '));
    expect(names.map((name) => name.slice('it > '.length)).sort()).toEqual(raced.sort());
  });

  test.each(Object.entries(STORAGE_FAULTS))('it notices %s', async (_, { topic, build }) => {
    const faulty: OpenStorage = async () => {
      const storage = await SqliteMemory.open();
      build(storage);
      return harnessOf(storage);
    };
    const [runner, control] = [new CollectRunner(), new CollectRunner()];
    describeStorage('it', faulty, runner);
    const [noticed = ['', undefined]] = [...(await runner.run(`it > ${topic} > `, 'first failure'))].slice(-1);
    expect(noticed[1]).toBeDefined();
    // The suite notices the fault, not the way in which these tests open a storage.
    describeStorage('it', openMemory, control);
    expect([...(await control.run(noticed[0]))].filter(([name]) => name === noticed[0])).toEqual([
      [noticed[0], undefined],
    ]);
  });

  test('a storage that forgets fails the durability tests, and one that does not passes them', async () => {
    const reopening = (forgets: boolean) => async () => {
      const storage = await SqliteMemory.open();
      return { ...harnessOf(storage), reopen: () => (forgets ? SqliteMemory.open() : storage.another()) };
    };
    expect(await failing(reopening(false), 'durability')).toEqual([]);
    expect(await failing(reopening(true), 'durability')).toHaveLength(2);
  });
});

describe('the runner of the contract suites', () => {
  test('is the global one unless another is given', () => {
    expect(globalRunner().describe).toBe(Reflect.get(globalThis, 'describe'));
  });

  test('must be given if there is no global one', () => {
    const saved = Reflect.get(globalThis, 'beforeEach');
    Reflect.set(globalThis, 'beforeEach', undefined);
    try {
      expect(() => globalRunner()).toThrow('pass those of your test runner');
    } finally {
      Reflect.set(globalThis, 'beforeEach', saved);
    }
  });
});
