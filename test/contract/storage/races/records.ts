import assert from 'node:assert/strict';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { PhoneStore } from '../../../../src/sandbox/phones/phone-store.js';
import { aKey } from '../accounts/accounts.js';
import { ACCOUNT, aPhoneMessage, onceKey, phone, range, START } from '../fixtures.js';
import { atOnce, type Race, tally } from './race.js';

/** Races for unique rows: each is created once. */
export const RECORD_RACES: Readonly<Record<string, Race>> = {
  'one account 20 times at once: created once': async (world, hand) => {
    const answers = await atOnce(20, (index) =>
      hand(index)
        .store(AccountStore)
        .createAccount({ id: ACCOUNT, name: `name ${index}`, createdAt: START }),
    );
    assert.equal(tally(answers).get(true), 1);
    assert.equal((await world.accounts.findAccount(ACCOUNT))?.name, `name ${answers.indexOf(true)}`);
    assert.equal((await world.accounts.listAccounts({ limit: 9 })).items.length, 1);
  },

  'one key id 20 times at once: added once': async (world, hand) => {
    await world.fund(0);
    const hash = (index: number) => index.toString(16).padStart(64, '0');
    const answers = await atOnce(20, (index) =>
      hand(index)
        .store(AccountStore)
        .addKey(aKey('k1', { hash: hash(index) })),
    );
    assert.equal(tally(answers).get(true), 1);
    assert.equal((await world.accounts.findKey('k1'))?.hash, hash(answers.indexOf(true)));
  },

  'keys made 20 times at once under one Idempotency-Key: one is made, and everybody gets its reply': async (
    world,
    hand,
  ) => {
    await world.fund(0);
    const answers = await atOnce(20, (index) => {
      const kept = { once: onceKey(), reply: { id: `k${index}` } };
      return hand(index)
        .store(AccountStore)
        .addKey(aKey(`k${index}`), undefined, undefined, kept);
    });
    const made = `k${answers.indexOf(true)}`;
    assert.equal(tally(answers).get(true), 1);
    for (const answer of answers) if (answer !== true) assert.deepEqual(answer, { reply: { id: made } });
    const { items } = await world.accounts.listKeys(ACCOUNT, { limit: 100 });
    assert.deepEqual(
      items.map(({ id }) => id),
      [made],
    );
  },

  'one signature 20 times at once: registered once, and everybody gets the same answer': async (world, hand) => {
    await world.fund(0);
    const open = { status: 'pending', reason: undefined, decidedAt: undefined } as const;
    const answers = await atOnce(20, (index) =>
      hand(index)
        .store(AccountStore)
        .registerSignature({ accountId: ACCOUNT, name: 'BANQUE', ...open, createdAt: START + index }),
    );
    const [stored, ...rest] = (await world.accounts.listSignatures(ACCOUNT, { limit: 100 })).items;
    assert.deepEqual(rest, []);
    for (const answer of answers) assert.deepEqual(answer, stored);
  },

  'one phone message 20 times at once, among others: stored once': async (world, hand) => {
    await atOnce(20, (index) =>
      hand(index)
        .store(PhoneStore)
        .receive([aPhoneMessage(100 + index), aPhoneMessage(1)]),
    );
    const ids = (await world.phones.messages(phone(1))).map(({ messageId }) => messageId);
    assert.deepEqual(
      ids,
      [aPhoneMessage(1), ...range(20).map((index) => aPhoneMessage(100 + index))].map((m) => m.messageId),
    );
  },
};
