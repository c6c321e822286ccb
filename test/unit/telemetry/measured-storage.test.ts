import { expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { MessagingError, StorageUnavailableError } from '../../../src/common/errors.js';
import { SafeTelemetry } from '../../../src/common/telemetry/safe-telemetry.js';
import { NoTelemetry } from '../../../src/common/telemetry/telemetry.js';
import { DAY_MS } from '../../../src/common/time.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { Send } from '../../../src/outbox/accept/send.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { StoreClass } from '../../../src/storage/engine/database.js';
import { Instruments } from '../../../src/telemetry/instruments.js';
import { measuredStorage, type ProbedCall } from '../../../src/telemetry/measured-storage.js';
import { PrometheusTelemetry } from '../../../src/telemetry/prometheus/index.js';
import { LedgerFindings, storeProbes } from '../../../src/telemetry/store-probes.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { ACCOUNT, aSend, messageId, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { inPlaceOf } from '../../support/databases/store-in-place.js';

const opened = closeAfterEach();

/** A storage in memory as a service with Prometheus has it, and what a scrape shows of a metric. */
async function start<S extends MemoryStorage>(own: S) {
  const clock = new FakeClock();
  const prometheus = await PrometheusTelemetry.forRoot({ accounts: [ACCOUNT] }).useFactory();
  const telemetry = new SafeTelemetry(prometheus, clock);
  const instruments = new Instruments(telemetry);
  await own.start();
  opened({ close: () => own.stop() });
  const probes = storeProbes(instruments, telemetry, clock, new LedgerFindings());
  const storage = measuredStorage(own, instruments, clock, probes);
  const shown = async (metric: string) => {
    const { body } = await prometheus.scrape();
    return body.split('\n').filter((line) => line.startsWith(`messaging_${metric}`));
  };
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
  await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 5, at: START });
  return { own, storage, shown, clock };
}

test('a measured storage has the same classes, and works on the same state', async () => {
  const { own, storage, shown } = await start(new MemoryStorage());
  expect(storage).toBeInstanceOf(MemoryStorage);
  expect(storage.store(OutboxStore)).toBeInstanceOf(OutboxStore);
  expect(storage.store(OutboxStore)).toBe(storage.store(OutboxStore));
  await storage.store(OutboxStore).commit([aSend(1)], decide);
  expect(await own.store(LedgerStore).balance(ACCOUNT)).toBe(4);
  expect(await shown('charged_units_total{')).toEqual([
    `messaging_charged_units_total{channel="sms",account="${ACCOUNT}"} 1`,
  ]);
  expect(await shown('commit_sends_count')).toEqual(['messaging_commit_sends_count 1']);
  expect(await shown('posted_units_total{')).toEqual(['messaging_posted_units_total{kind="topup"} 5']);
  expect(await shown('storage_operation_duration_seconds_count{operation="accept"}')).toHaveLength(1);
  await storage.stop();
  expect(() => own.store(OutboxStore)).toThrow('not started');
});

test('the time to a receipt counts from send_at, not from an acceptance on an earlier day', async () => {
  const { storage, shown, clock } = await start(new MemoryStorage());
  const sendAt = START + DAY_MS;
  const outbox = storage.store(OutboxStore);
  await outbox.commit([aSend(1, { schedule: { sendAt } })], decide);
  clock.advance(sendAt + 2000 - clock.now());
  const receipt = (n: number) =>
    ({ messageId: messageId(n), position: 0, status: 'delivered', at: clock.now() }) as const;
  const order = { channel: 'sms', now: clock.now(), leaseUntil: clock.now() + 1000, limit: 9, abandoned: false };
  for (const { messageId: id, position, attempt } of await outbox.claim(order)) {
    await outbox.settle([{ messageId: id, position, attempt, status: 'sent', at: clock.now() }]);
  }
  await outbox.settle([receipt(1)]);
  expect(await shown('receipt_delay_seconds_sum')).toEqual(['messaging_receipt_delay_seconds_sum{channel="sms"} 2']);
});

/** A storage whose commits are a part of the host's transaction. */
class Joined extends MemoryStorage {
  readonly afterCommit: (() => void)[] = [];

  override store<S extends object>(Store: StoreClass<S>): S {
    const joined = Object.assign(Object.create(super.store(OutboxStore)), {
      commit: async (sends: readonly Send[]) => sends.map(({ reply }) => ({ kind: 'accepted', reply })),
      whenCommitted: (_: unknown, task: () => void) => this.afterCommit.push(task),
    });
    return inPlaceOf(Store, joined) ?? super.store(Store);
  }
}

test('writes in a host’s transaction are counted after its commit, and not after a rollback', async () => {
  const { own, storage, shown } = await start(new Joined());
  await storage.store(OutboxStore).commit([aSend(1)], decide, { manager: {} });
  expect(await shown('charged_units_total{')).toEqual([]);
  for (const task of own.afterCommit) task();
  expect(await shown('charged_units_total{')).toHaveLength(1);
});

test('a metric that throws undoes nothing that is stored, and is logged once a minute', async () => {
  const clock = new FakeClock();
  const instruments = new Instruments(new SafeTelemetry(await PrometheusTelemetry.forRoot().useFactory(), clock));
  const own = new Joined();
  await own.start();
  opened({ close: () => own.stop() });
  const fails = () => {
    throw new TypeError('22670000001');
  };
  const commit = jest.fn((_: unknown, __: unknown, { count }: ProbedCall) => {
    count({ manager: {} }, fails);
    fails();
  });
  const storage = measuredStorage(own, instruments, clock, [{ port: OutboxStore, probes: { commit } }]);
  const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  opened({ close: () => logged.mockRestore() });
  for (let again = 0; again < 3; again++) {
    expect(await storage.store(OutboxStore).commit([aSend(1)], decide)).toMatchObject([{ kind: 'accepted' }]);
  }
  for (const task of own.afterCommit) task();
  expect([commit.mock.calls.length, own.afterCommit.length]).toEqual([3, 3]);
  expect(logged.mock.calls.map(([line]) => String(line))).toEqual([
    'A count failed with TypeError. The counted work continues, but the metrics lack it.',
  ]);
});

test('without telemetry the storage is left as it is', () => {
  const clock = new FakeClock();
  const storage = new MemoryStorage();
  expect(measuredStorage(storage, new Instruments(new SafeTelemetry(new NoTelemetry(), clock)), clock, [])).toBe(
    storage,
  );
});

test('a refusal is not an error of the storage; an outage is', async () => {
  const { storage, shown } = await start(new MemoryStorage());
  await expect(storage.store(LedgerStore).entries(ACCOUNT, { limit: 1, after: 'nothing' })).rejects.toBeInstanceOf(
    MessagingError,
  );
  expect(await shown('storage_errors_total{')).toEqual([]);
  const ledger = storage.store(LedgerStore);
  await storage.stop();
  await expect(ledger.balance(ACCOUNT)).rejects.toThrow(StorageUnavailableError);
  expect(await shown('storage_errors_total{')).toEqual([
    'messaging_storage_errors_total{operation="ledger",code="unavailable"} 1',
  ]);
});
