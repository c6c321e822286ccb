import assert from 'node:assert/strict';
import type { Challenge } from '../../../../src/otp/challenge.js';
import type { OtpLimits } from '../../../../src/otp/otp-limits.js';
import type { VerifyOutcome } from '../../../../src/otp/otp-results.js';
import { type OtpSettings, resolveOtpSettings } from '../../../../src/otp/otp-settings.js';
import { RecordKeys } from '../../../../src/otp/record-keys.js';
import { ChallengePolicy } from '../../../../src/otp/send-challenge.js';
import { VerifyStep } from '../../../../src/otp/verify-challenge.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import type { CommitOutcome } from '../../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../../src/outbox/policy/policy-store.js';
import type { MessagingStorage } from '../../../../src/storage/messaging-storage.js';
import { ACCOUNT, aSend, messageId, phone, range, START } from '../fixtures.js';
import { aRecord, countIn, look } from '../outbox/records.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';
import { atOnce, type Race, tally } from './race.js';

const NUMBER = phone(1);

function settingsWith(limits: OtpLimits = {}): OtpSettings {
  return resolveOtpSettings({ pepper: 'the pepper of the contract suite', limits: { preset: 'none', ...limits } });
}

const FREE = settingsWith();

/** A send of a one-time passcode, as OTP makes it. */
function codeSend(index: number, settings = FREE, service = 'shop', over: Partial<Send> = {}): Send {
  const messageIdOfSend = messageId(index);
  const send = aSend(index, { recipients: [{ number: NUMBER, units: 1 }], ...over });
  const policy = new ChallengePolicy(
    {
      binding: { accountId: send.accountId, service, number: NUMBER },
      messageId: messageIdOfSend,
      channel: 'sms',
      units: 1,
      newId: `challenge-${index}`,
      now: START + index,
      message: '',
    },
    settings,
  );
  return { ...send, policy };
}

/** Verifies the right or a wrong code of a service on an instance. */
async function attempt(
  storage: MessagingStorage,
  right: boolean,
  settings = FREE,
  service = 'shop',
): Promise<VerifyOutcome['kind']> {
  const binding = { accountId: ACCOUNT, service, number: NUMBER };
  const challenge = await challengeOf(storage, service);
  const code = settings.codes.codeOf(challenge, binding);
  const otp = right ? code : code === '0000' ? '0001' : '0000';
  const step = new VerifyStep(binding, otp, START + 1000, settings);
  return (await storage.store(PolicyStore).change(step.keys, step.decide, 'to-change')).kind;
}

/** Commits a send as the outbox does: repeatedly, without waiting for records while it locks the account. */
async function commitUnwaiting(storage: MessagingStorage, send: Send): Promise<CommitOutcome> {
  const outbox = storage.store(OutboxStore);
  for (;;) {
    const [outcome] = await outbox.commit([send], decide, undefined, 'accounts');
    assert.ok(outcome);
    if (outcome.kind !== 'busy') return outcome;
    await outbox.whenFree(outcome.records ?? []);
  }
}

async function challengeOf(storage: MessagingStorage, service = 'shop'): Promise<Challenge> {
  const { challenge: key } = new RecordKeys({ accountId: ACCOUNT, service, number: NUMBER });
  const record = await storage
    .store(PolicyStore)
    .change([key], (seen) => ({ result: seen.get(key), changes: new Map() }));
  assert.ok(record);
  return record.state as Challenge;
}

async function sendAll(world: StorageFixture, ...sends: readonly Send[]): Promise<void> {
  await world.fund(1000);
  await world.accept(...sends);
}

/** Races for records, and for the codes that OTP keeps in them. */
export const CODE_RACES: Readonly<Record<string, Race>> = {
  '200 steps at once on one record that did not exist: each counts': async (world, hand) => {
    await atOnce(200, (index) =>
      hand(index)
        .store(PolicyStore)
        .change(['a', 'b'], (seen) => ({
          result: 0,
          changes: new Map(['b', 'a'].map((key) => [key, aRecord(countIn(seen, key) + 1)])),
        })),
    );
    const seen = await look(world, 'a', 'b');
    assert.deepEqual([countIn(seen, 'a'), countIn(seen, 'b')], [200, 200]);
  },

  '200 right codes at once: one is verified': async (world, hand) => {
    await sendAll(world, codeSend(1));
    const outcomes = tally(await atOnce(200, (index) => attempt(hand(index), true)));
    assert.deepEqual([outcomes.get('verified'), outcomes.get('already_verified')], [1, 199]);
  },

  '200 wrong codes at once: exactly three are compared': async (world, hand) => {
    await sendAll(world, codeSend(1));
    const outcomes = tally(await atOnce(200, (index) => attempt(hand(index), false)));
    assert.deepEqual([outcomes.get('wrong'), outcomes.get('exhausted')], [3, 197]);
    assert.equal((await challengeOf(world.storage)).tries, 3);
  },

  '100 wrong codes at once over 20 services: exactly ten are compared, then the number is locked': async (
    world,
    hand,
  ) => {
    const settings = settingsWith({ wrongTries: [{ count: 10, seconds: 86_400 }] });
    await sendAll(world, ...range(20).map((index) => codeSend(index, settings, `s${index}`)));
    const outcomes = tally(await atOnce(100, (index) => attempt(hand(index), false, settings, `s${index % 20}`)));
    assert.equal(outcomes.get('wrong'), 10);
  },

  'right codes and resends at once: one success, one code, and a verified code is not sent again': async (
    world,
    hand,
  ) => {
    await sendAll(world, codeSend(1));
    const code = await challengeOf(world.storage);
    const binding = { accountId: ACCOUNT, service: 'shop', number: NUMBER };
    const otp = FREE.codes.codeOf(code, binding);
    const outcomes = await atOnce(60, async (index) => {
      if (index % 3 === 0) {
        await hand(index)
          .store(OutboxStore)
          .commit([codeSend(100 + index)], decide);
        return 'sent';
      }
      const step = new VerifyStep(binding, otp, START + 1000, FREE);
      return (await hand(index).store(PolicyStore).change(step.keys, step.decide, 'to-change')).kind;
    });
    assert.equal(tally(outcomes).get('verified'), 1);
    const left = await challengeOf(world.storage);
    assert.ok(left.id === code.id ? left.verifiedAt !== null : left.verifiedAt === null);
  },

  '40 sends to one number at once that wait for no record while they lock their account: 20 are accepted': async (
    world,
    hand,
  ) => {
    const settings = settingsWith({ sendsEverywhere: [{ count: 20, seconds: 86_400 }] });
    const accounts = range(4).map((index) => `acc${index}`);
    for (const id of accounts) await world.fund(100, id);
    const outcomes = await atOnce(40, (index) => {
      const accountId = accounts[index % 4] ?? ACCOUNT;
      return commitUnwaiting(hand(Math.floor(index / 4)), codeSend(index, settings, 'shop', { accountId }));
    });
    const counts = tally(kinds(outcomes));
    assert.deepEqual([counts.get('accepted'), counts.get('policy')], [20, 20]);
    await world.sound();
  },

  '40 sends to one number at once, over two accounts, with a cap of 20 over all accounts: 20 are accepted': async (
    world,
    hand,
  ) => {
    const settings = settingsWith({ sendsEverywhere: [{ count: 20, seconds: 86_400 }] });
    const accounts = [ACCOUNT, 'acc2'];
    for (const id of accounts) await world.fund(100, id);
    const outcomes = await atOnce(40, (index) => {
      const accountId = accounts[Math.floor(index / 2) % 2] ?? ACCOUNT;
      return hand(index)
        .store(OutboxStore)
        .commit([codeSend(index, settings, 'shop', { accountId })], decide);
    });
    const counts = tally(kinds(outcomes.flat()));
    assert.deepEqual([counts.get('accepted'), counts.get('policy')], [20, 20]);
    await world.sound();
  },
};
