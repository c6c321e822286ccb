import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { OrphanedQueues } from '../../../src/msgapp/sessions/session-queues.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend, aSession, messageId, range, START, sessionId } from '../../contract/storage/fixtures.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

const EVERY_MS = 30_000;
const NEXT_MS = 1000;

let storage: SqliteMemory;
let clock: FakeClock;
let lanes: OrphanedQueues;
/** The number of deliveries that each look was allowed to read, and where it began. */
let looks: { after: string; limit: number }[];

beforeAll(() => Logger.overrideLogger(false));

beforeEach(async () => {
  storage = await SqliteMemory.open();
  clock = new FakeClock();
  looks = [];
  const sessions = storage.store(SessionStore);
  const stranded = sessions.stranded.bind(sessions);
  sessions.stranded = (channel, after, limit) => {
    looks.push({ after, limit });
    return stranded(channel, after, limit);
  };
  lanes = new OrphanedQueues('wa', sessions, clock, () => undefined);
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
  await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10_000, at: START });
});

/** Sessions that have ended, each with this many messages left. */
async function strand(indexes: readonly number[], messages = 1): Promise<void> {
  for (const index of indexes) {
    const lease = await storage.store(SessionStore).create(aSession(index));
    const left = range(messages).map((round) => aSend(index * 1000 + round, { channel: 'wa', lane: sessionId(index) }));
    await storage.store(OutboxStore).commit(left, decide);
    await storage.store(SessionStore).move(lease, { to: 'failed', reason: 'test', at: START });
  }
}

async function pass(ms: number): Promise<void> {
  clock.advance(ms);
  await settled();
}

test('all lanes are examined, a thousand deliveries a second, and then there is a rest', async () => {
  // A thousand and more in the first lane, and more lanes with one each.
  await strand([0], 1001);
  await strand(range(150).map((index) => index + 10));
  await lanes.start();
  expect([...lanes.ids]).toEqual([sessionId(0)]);
  await pass(NEXT_MS);
  expect([...lanes.ids]).toHaveLength(151);
  expect(looks).toEqual([
    { after: '', limit: 1000 },
    { after: sessionId(0), limit: 1000 },
  ]);
  await pass(EVERY_MS - 1);
  expect(looks).toHaveLength(2);
  await pass(1);
  expect(looks.at(-1)).toEqual({ after: '', limit: 1000 });
});

test('no more sessions are looked for than can be served, and those that are done make room', async () => {
  await strand(range(450), 4);
  await lanes.start();
  expect([...lanes.ids]).toEqual(range(250).map(sessionId));
  await pass(NEXT_MS);
  expect(looks).toHaveLength(1);
  for (const index of range(250)) {
    await storage.store(OutboxStore).settle(
      range(4).map((round) => ({
        ...({ messageId: messageId(index * 1000 + round), position: 0, status: 'failed', at: START } as const),
      })),
    );
  }
  await pass(EVERY_MS - NEXT_MS);
  expect([...lanes.ids]).toEqual(range(200).map((index) => sessionId(250 + index)));
});

test('a session that ends here is served at once, until a pass through the lanes does not find it', async () => {
  await lanes.start();
  lanes.add(sessionId(1), 'failed');
  expect(lanes.statusOf(sessionId(1))).toBe('failed');
  await pass(EVERY_MS);
  expect([...lanes.ids]).toEqual([]);
});

test('a store that fails is asked again, from the beginning', async () => {
  await strand([0], 1001);
  await lanes.start();
  const { stranded } = storage.store(SessionStore);
  storage.store(SessionStore).stranded = async () => {
    throw new Error('away');
  };
  await pass(NEXT_MS);
  expect([...lanes.ids]).toEqual([sessionId(0)]);
  storage.store(SessionStore).stranded = stranded;
  await pass(EVERY_MS);
  expect(looks.map(({ after }) => after)).toEqual(['', '']);
});
