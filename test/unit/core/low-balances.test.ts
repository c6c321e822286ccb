import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { LowBalances } from '../../../src/core/low-balances.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import type { ProcessRole } from '../../../src/outbox/delivery/process-role.api.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { range, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { eventPublisher } from '../../support/events/event-publisher.js';

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

describe('accounts with a low balance', () => {
  let clock: FakeClock;
  let storage: SqliteMemory;
  let heard: string[];

  beforeEach(async () => {
    clock = new FakeClock();
    heard = [];
    storage = opened(await SqliteMemory.open());
  });

  function start(role: ProcessRole = 'all'): LowBalances {
    const events = new MessagingEvents();
    events.on('balance.low', ({ account }) => heard.push(account));
    const ledger = storage.store(LedgerStore);
    const watch = new LowBalances(
      ledger,
      eventPublisher(events),
      resolveDispatchSettings({}, role),
      clock,
      new Rounds(clock),
    );
    opened({ close: () => watch.beforeApplicationShutdown() });
    watch.onApplicationBootstrap();
    return watch;
  }

  async function low(...ids: string[]): Promise<void> {
    for (const id of ids) {
      await storage.store(AccountStore).createAccount({ id, name: id, createdAt: START });
      await storage.store(AccountStore).setLowBalance(id, 1);
    }
  }

  async function second(): Promise<void> {
    clock.advance(1000);
    await settled();
  }

  test('are reported within a second, in as many transactions as needed', async () => {
    start();
    const ids = range(150).map((index) => `acc${index}`);
    await low(...ids);
    await second();
    expect(heard.sort()).toEqual(ids.sort());
    await low('late');
    await second();
    expect(heard.at(-1)).toBe('late');
  });

  test('are reported when the storage answers again', async () => {
    start();
    await low('a');
    const { publishLow } = storage.store(LedgerStore);
    storage.store(LedgerStore).publishLow = async () => {
      throw new StorageUnavailableError('away');
    };
    await second();
    expect(heard).toEqual([]);
    storage.store(LedgerStore).publishLow = publishLow;
    await second();
    expect(heard).toEqual(['a']);
  });

  test.each([
    { role: 'worker', published: ['a'] },
    { role: 'sessions', published: ['a'] },
    { role: 'api', published: [] },
  ] as const)('are reported only by processes that deliver ($role)', async ({ role, published }) => {
    start(role);
    await low('a');
    await second();
    expect(heard).toEqual(published);
  });

  test('are not reported by a process that has stopped', async () => {
    const watch = start();
    await watch.beforeApplicationShutdown();
    await low('a');
    await second();
    expect(heard).toEqual([]);
  });
});
