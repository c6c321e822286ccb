import assert from 'node:assert/strict';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { DAY_MS, SECOND_MS } from '../../../../src/common/time.js';
import { MediaStore } from '../../../../src/media/media-store.js';
import { SessionStore } from '../../../../src/msgapp/sessions/session-store.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { PhoneStore } from '../../../../src/sandbox/phones/phone-store.js';
import { PartStore } from '../../../../src/sms/receipts/part-store.js';
import type { MessagingStorage } from '../../../../src/storage/messaging-storage.js';
import { lacking, type PartRunner } from '../../test-runner.js';
import { aKey } from '../accounts/accounts.js';
import {
  ACCOUNT,
  aPhoneMessage,
  aReceipt,
  aSend,
  aSession,
  aTakenSms,
  messageId,
  onceKey,
  phone,
  recipients,
  START,
  sessionId,
} from '../fixtures.js';
import { bytes, digest, inChunks } from '../media/media.js';
import { LEASE, type StorageFixture } from '../storage-fixture.js';
import type { StoragePart } from '../storage-harness.js';

const NAME = { accountId: ACCOUNT, name: 'BANQUE', status: 'pending', createdAt: START } as const;

/** Two clocks differ by less, however wrong they are, unless one counts in another unit. */
const YEAR_MS = 365 * DAY_MS;

/** All data that can be read. */
async function everything(storage: MessagingStorage): Promise<unknown> {
  const accounts = storage.store(AccountStore);
  const ledger = storage.store(LedgerStore);
  const outbox = storage.store(OutboxStore);
  const media = storage.store(MediaStore);
  const sessions = storage.store(SessionStore);
  return {
    accounts: await accounts.listAccounts({ limit: 100 }),
    keys: await accounts.listKeys(ACCOUNT, { limit: 100 }),
    signatures: await accounts.listSignatures(ACCOUNT, { limit: 100 }),
    balance: await ledger.balance(ACCOUNT),
    entries: await ledger.entries(ACCOUNT, { limit: 100 }),
    messages: await outbox.list({ accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 100 }),
    recipients: await outbox.recipients(messageId(1)),
    reply: await outbox.replay(onceKey(), START),
    next: await outbox.nextDue('sms'),
    phone: await storage.store(PhoneStore).messages(phone(1)),
    latest: await storage.store(PhoneStore).latest(10),
    parts: await storage.store(PartStore).parts(messageId(1)),
    trail: await outbox.trail(messageId(1)),
    sessions: await sessions.list(ACCOUNT, 'wa', 9),
    steps: await sessions.transitions(sessionId(1)),
    credentials: [...(await sessions.credentials(sessionId(1), 'k', ['a', 'b', 'c']))].sort(),
    file: await digest(media.read('file')),
  };
}

export function durabilityTests({ test, testWith }: PartRunner<StoragePart>, world: StorageFixture): void {
  async function life(): Promise<void> {
    await world.fund(10);
    await world.accounts.addKey(aKey('k1', { scopes: ['sms:send'], cidrs: ['192.0.2.0/24'], dailyUnits: 9 }));
    await world.accounts.revokeKey('k1', START + 1);
    await world.accounts.registerSignature({ ...NAME, reason: undefined, decidedAt: undefined });
    await world.accept(aSend(1, { recipients: recipients(4), once: onceKey() }));
    await world.claim({ limit: 3 });
    await world.settle(messageId(1), 'failed', { attempt: 1 });
    await world.settle(messageId(1), 'sent', { position: 1, attempt: 1, dueAt: START + 9 * SECOND_MS });
    await world.parts.record([aTakenSms(1, { position: 1, carrierIds: ['a', 'b'] })], START);
    await world.parts.receive([aReceipt('a')], { now: START, until: START + SECOND_MS, most: 9 });
    const lease = await world.sessions.create(aSession(1));
    await world.sessions.create(aSession(2));
    await world.move(lease, 'connected', { number: phone(1) });
    const change = (id: string, value: string | undefined) => ({ kind: 'k', id, value });
    await world.sessions.writeCredentials(lease, [change('a', '1'), change('b', '2'), change('c', '3')]);
    await world.sessions.writeCredentials(lease, [change('a', undefined)]);
    await world.media.write('file', inChunks(bytes(700_000), [100_000]), START);
    await world.phones.receive([aPhoneMessage(1), aPhoneMessage(2, { channel: 'wa' })]);
  }

  test('the time of the server, if the storage has one, is in whole milliseconds since the epoch', async () => {
    const time = await world.storage.serverNow();
    if (time === undefined) return;
    assert.ok(Number.isInteger(time), `${time} is no integer`);
    assert.ok(Math.abs(time - Date.now()) < YEAR_MS, `${time} is not within a year of this machine's time`);
  });

  testWith(
    'reopen',
    'everything that was answered is still there after a restart (where the harness can reopen)',
    async () => {
      if (!world.harness.reopen) throw lacking('reopen');
      await life();
      const before = await everything(world.storage);
      const storage = await world.harness.reopen();
      assert.deepEqual(await everything(storage), before);
      assert.deepEqual(await storage.store(LedgerStore).check(), []);
      assert.equal(await storage.store(LedgerStore).balance(ACCOUNT), 7);
    },
  );

  testWith('reopen', 'work goes on after a restart (where the harness can reopen)', async () => {
    if (!world.harness.reopen) throw lacking('reopen');
    await life();
    const storage = await world.harness.reopen();
    const outbox = storage.store(OutboxStore);
    const ledger = storage.store(LedgerStore);
    const sessions = storage.store(SessionStore);
    const [replayed] = await outbox.commit([aSend(2, { once: onceKey() })], decide);
    assert.equal(replayed?.kind, 'replayed');
    const now = START + LEASE + 1;
    const expired = await outbox.expire({ channel: 'sms', limit: 9, now, statuses: ['sent'] });
    assert.equal(expired.length, 1);
    const order = { channel: 'sms', limit: 9, now, leaseUntil: now + LEASE, abandoned: true };
    const attempts = (await outbox.claim(order)).map(({ attempt }) => attempt);
    assert.deepEqual(attempts.sort(), [1, 2]);
    const taken = await sessions.lease(sessionId(1), 'p2', now, now + LEASE);
    assert.ok(taken && taken.epoch > 1);
    assert.equal(await sessions.move({ ...taken, epoch: 1 }, { to: 'failed', reason: 'late', at: now }), false);
    assert.equal(await sessions.move(taken, { to: 'reconnecting', reason: 'resumed', at: now }), true);
    const [refused] = await outbox.commit([aSend(3, { recipients: recipients(8) })], decide);
    assert.equal(refused?.kind, 'refused');
    const [accepted] = await outbox.commit([aSend(4, { recipients: recipients(7) })], decide);
    assert.equal(accepted?.kind, 'accepted');
    assert.equal(await ledger.balance(ACCOUNT), 0);
    assert.deepEqual(await ledger.check(), []);
  });
}
