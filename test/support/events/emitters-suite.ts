import { expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { codeEvents } from '../../../src/events/account-events.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { NewEvent } from '../../../src/events/event-types.js';
import { type LoggedEvent } from '../../../src/events/stored-event.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { EVERY_ACCOUNT, OptOutStore } from '../../../src/sms/opt-out/opt-out-store.js';
import {
  EMITTERS,
  type PublishingStores,
  sampleCode,
  sampleKey,
  sampleOptOut,
  samplePosting,
  sampleRemoval,
} from '../../contract/storage/events/published.js';
import { ACCOUNT, aSend, onceKey, range, recipients, START } from '../../contract/storage/fixtures.js';
import { loggedFault } from './event-schemas.js';

const HASH = '0123456789abcdef'.repeat(4);

/** A storage with one account of 1000 units. */
class Fixture {
  private constructor(
    readonly dataSource: DataSource,
    readonly storage: TypeormStorage,
  ) {}

  static async open(dataSource: DataSource): Promise<Fixture> {
    const storage = new TypeormStorage({ database: dataSource });
    await storage.start();
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage
      .store(LedgerStore)
      .post({ id: 'op:funds', accountId: ACCOUNT, kind: 'topup', units: 1000, at: START });
    return new Fixture(dataSource, storage);
  }

  get log(): EventLog {
    return this.storage.store(EventLog);
  }

  get stores(): PublishingStores {
    const accounts = this.storage.store(AccountStore);
    const ledger = this.storage.store(LedgerStore);
    const outbox = this.storage.store(OutboxStore);
    const policies = this.storage.store(PolicyStore);
    const [optOuts, sessions] = [this.storage.store(OptOutStore), this.storage.store(SessionStore)];
    return { accounts, ledger, outbox, policies, optOuts, sessions };
  }

  record(): Promise<unknown> {
    return this.log.switchOn(ACCOUNT, START);
  }

  /** The log, after the marks have received their numbers. */
  async events(): Promise<readonly LoggedEvent[]> {
    while ((await this.log.numberMarks(100)) > 0);
    const { events, last, earliest } = await this.log.read({ accountId: ACCOUNT, after: 0, limit: 500 });
    expect(events.map(({ sequence }) => sequence)).toEqual(range(last - earliest + 1).map((index) => earliest + index));
    expect(events.flatMap((event) => loggedFault(event) ?? [])).toEqual([]);
    expect(JSON.stringify(events)).not.toContain(HASH);
    return events;
  }

  async published(): Promise<readonly unknown[]> {
    return (await this.events()).map(({ type, data }) => [type, data]);
  }

  /** Runs something while no event can be stored. */
  async withoutTable(work: () => Promise<unknown>): Promise<void> {
    await this.dataSource.query('ALTER TABLE messaging_event RENAME TO messaging_event_away');
    try {
      await work();
    } finally {
      await this.dataSource.query('ALTER TABLE messaging_event_away RENAME TO messaging_event');
    }
  }

  /** A balance of 1000 and a threshold of 10. */
  async spend(units: number, index = 1): Promise<void> {
    const [outcome] = await this.storage
      .store(OutboxStore)
      .commit([aSend(index, { recipients: recipients(1, units) })], decide, undefined, 'none');
    expect(outcome?.kind).toBe('accepted');
  }

  publishLow(): Promise<readonly NewEvent[]> {
    return this.storage.store(LedgerStore).publishLow(START, 100);
  }
}

/** Tests of the events that accounts, the ledger, opt-outs, codes and sessions publish, on any database. */
export function emitterRules(open: () => Promise<DataSource>): void {
  const start = async () => Fixture.open(await open());

  test.each(EMITTERS)(
    '$name is in the log ($type), once and together with its change',
    async ({ prepare, type, data }) => {
      const world = await start();
      const act = await prepare(world.stores);
      await world.record();
      await world.withoutTable(() => expect(act()).rejects.toThrow());
      expect(await world.published()).toEqual([]);
      await act();
      expect(await world.published()).toEqual([[type, data]]);
      const [event] = await world.events();
      expect([event?.accountId, event?.at]).toEqual([ACCOUNT, START]);
    },
  );

  test('an opt-out for all accounts is in no account’s log', async () => {
    const world = await start();
    await world.record();
    await world.storage.store(AccountStore).createAccount({ id: EVERY_ACCOUNT, name: 'All', createdAt: START });
    await world.log.switchOn(EVERY_ACCOUNT, START);
    const [added] = await world.stores.optOuts.add([sampleOptOut({ accountId: EVERY_ACCOUNT })]);
    expect(added).toBeDefined();
    await world.stores.optOuts.remove([sampleOptOut({ accountId: EVERY_ACCOUNT })], undefined, sampleRemoval);
    expect([await world.published(), (await world.log.state(EVERY_ACCOUNT)).last]).toEqual([[], 0]);
  });

  test('steps that share a transaction each record their own event, and one that throws records none', async () => {
    const world = await start();
    await world.record();
    const step = (service: string, fails = false) =>
      world.storage.store(PolicyStore).change([service], () => {
        if (fails) throw new Error('The step has a mistake.');
        const changes = new Map([[service, { state: {}, messages: [], expiresAt: START }]]);
        return { result: service, changes, events: codeEvents({ ...sampleCode, service }, { kind: 'verified' }) };
      });
    await Promise.allSettled([step('a'), step('b', true), step('c')]);
    expect((await world.events()).map(({ data }) => (data as { service?: string }).service).sort()).toEqual(['a', 'c']);
  });

  test('postings and keys in a host’s transaction are in the log after its commit, and not after a rollback', async () => {
    const world = await start();
    const { storage, dataSource, log } = world;
    await world.record();
    const seen: number[] = [];
    const within = (id: string, fails: boolean) =>
      dataSource.transaction(async (manager) => {
        await storage.store(LedgerStore).post({ ...samplePosting(5), id: `op:${id}` }, { manager });
        await storage.store(AccountStore).addKey(sampleKey(id), { manager });
        log.whenCommitted({ manager }, () => void seen.push(1));
        if (fails) throw new Error('the host changes its mind');
      });
    await expect(within('undone', true)).rejects.toThrow('mind');
    expect([await world.published(), seen]).toEqual([[], []]);
    await within('kept', false);
    expect(await world.published()).toEqual([
      ['balance.topped_up', { id: 'kept', units: 5, note: null }],
      ['key.created', { id: 'kept', name: null }],
    ]);
    expect(seen).toEqual([1]);
  });

  test('an event without a change is appended for the accounts that record, and for no others', async () => {
    const world = await start();
    const marks = async () =>
      Number((await world.dataSource.query('SELECT count(*) AS n FROM messaging_event_mark'))[0].n);
    const refused = codeEvents(sampleCode, { kind: 'locked', retryAfter: 1 });
    await world.log.append(refused);
    expect(await marks()).toBe(0);
    await world.record();
    const added: unknown[] = [];
    world.log.listen((each) => added.push(each));
    await Promise.all([world.log.append(refused), world.log.append(refused)]);
    expect([await marks(), added]).toEqual([2, [{ accounts: [], marks: true }]]);
    expect(await world.published()).toHaveLength(2);
  });

  lowBalanceRules(start);
}

function lowBalanceRules(start: () => Promise<Fixture>): void {
  const withThreshold = async (threshold = 10) => {
    const world = await start();
    expect(await world.storage.store(AccountStore).setLowBalance(ACCOUNT, threshold)).toBe(true);
    return world;
  };
  test('every debit can make a balance low: one of many accounts, under a key, in a host’s transaction, by hand', async () => {
    const world = await withThreshold();
    const { storage, dataSource } = world;
    const open = async (id: string) => {
      await storage.store(AccountStore).createAccount({ id, name: id, createdAt: START });
      await storage.store(LedgerStore).post({ id: `op:${id}`, accountId: id, kind: 'topup', units: 10, at: START });
      await storage.store(AccountStore).setLowBalance(id, 10);
    };
    for (const id of ['b', 'c', 'd', 'e', 'f']) await open(id);
    const low = async () => (await world.publishLow()).map(({ accountId }) => accountId);
    const commit = (...sends: ReturnType<typeof aSend>[]) =>
      storage.store(OutboxStore).commit(sends, decide, undefined, 'none');
    await commit(aSend(1, { accountId: 'b' }), aSend(2, { accountId: 'c' }));
    expect(await low()).toEqual(['b', 'c']);
    await commit(aSend(3, { accountId: 'd', once: onceKey({ accountId: 'd' }) }));
    expect(await low()).toEqual(['d']);
    const host = (fails: boolean) =>
      dataSource.transaction(async (manager) => {
        await storage.store(OutboxStore).commit([aSend(4, { accountId: 'e' })], decide, { manager });
        if (fails) throw new Error('the host changes its mind');
      });
    await expect(host(true)).rejects.toThrow('mind');
    expect(await low()).toEqual([]);
    await host(false);
    expect(await low()).toEqual(['e']);
    await storage.store(LedgerStore).post({ id: 'op:down', accountId: 'f', kind: 'adjust', units: -1, at: START });
    expect(await low()).toEqual(['f']);
    expect(await storage.store(LedgerStore).check()).toEqual([]);
  });

  test('two processes that look at once report it once', async () => {
    const world = await withThreshold();
    await world.record();
    await world.spend(995);
    const answers = await Promise.all(range(8).map(() => world.publishLow()));
    expect([answers.flat().length, (await world.events()).length]).toEqual([1, 1]);
  });
}
