import { expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { codeEvents, optOutEvent } from '../../src/events/account-events.js';
import { EventLog, type LoggedEvent } from '../../src/events/event-log.js';
import type { NewEvent } from '../../src/events/event-types.js';
import { SessionStore } from '../../src/msgapp/sessions/session-store.js';
import { decide } from '../../src/outbox/decide.js';
import { EVERY_ACCOUNT, type OptOut, OptOutStore } from '../../src/sms/opt-out/opt-out-store.js';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';
import {
  ACCOUNT,
  aSend,
  aSession,
  onceKey,
  phone,
  range,
  recipients,
  START,
} from '../../src/testing/storage-contract/fixtures.js';
import { anOptOut } from '../../src/testing/storage-contract/opt-outs.js';
import { loggedFault } from './event-schemas.js';

const LONG = '"\\é\u0001😀'.repeat(2000);
const HASH = '0123456789abcdef'.repeat(4);

/** A storage with one account of 1000 units. */
class World {
  private constructor(
    readonly dataSource: DataSource,
    readonly storage: TypeormStorage,
  ) {}

  static async open(dataSource: DataSource): Promise<World> {
    const storage = new TypeormStorage({ database: dataSource });
    await storage.start();
    await storage.accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.ledger.post({ id: 'op:funds', accountId: ACCOUNT, kind: 'topup', units: 1000, at: START });
    return new World(dataSource, storage);
  }

  get log(): EventLog {
    return this.storage.store(EventLog);
  }

  get optOuts(): OptOutStore {
    return this.storage.store(OptOutStore);
  }

  record(): Promise<unknown> {
    return this.log.switchOn(ACCOUNT, START);
  }

  /** The log, after the marks have got their numbers. */
  async events(): Promise<readonly LoggedEvent[]> {
    while ((await this.log.numberMarks(100)) > 0);
    const { events, last, earliest } = await this.log.read({ accountId: ACCOUNT, after: 0, limit: 500 });
    expect(events.map(({ sequence }) => sequence)).toEqual(range(last - earliest + 1).map((index) => earliest + index));
    expect(events.flatMap((event) => loggedFault(event) ?? [])).toEqual([]);
    expect(JSON.stringify(events)).not.toContain(HASH);
    return events;
  }

  async told(): Promise<readonly unknown[]> {
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
    const [outcome] = await this.storage.outbox.commit(
      [aSend(index, { recipients: recipients(1, units) })],
      decide,
      undefined,
      'none',
    );
    expect(outcome?.kind).toBe('accepted');
  }

  tellLow(): Promise<readonly NewEvent[]> {
    return this.storage.ledger.tellLow(START, 100);
  }
}

/** A change with its event. */
interface Emitter {
  readonly name: string;
  readonly type: string;
  readonly data: unknown;
  /** What precedes the change; answers what makes it. */
  prepare(world: World): Promise<() => Promise<unknown>>;
}

const key = (id: string) => ({
  id,
  accountId: ACCOUNT,
  hash: HASH,
  createdAt: START,
  expiresAt: undefined,
  revokedAt: undefined,
});
const posting = (units: number, kind: 'topup' | 'adjust' = 'topup', note?: string) => {
  return { id: 'op:inv-1', accountId: ACCOUNT, kind, units, note, at: START } as const;
};
const optOut = (over: Partial<OptOut> = {}) => anOptOut(1, { signature: 'SHOP', source: 'phone', at: START, ...over });
const removed = (entries: readonly OptOut[]) =>
  entries.map((entry) => optOutEvent('optout.removed', { ...entry, at: START }, { ...entry, source: 'operator' }));
const code = { accountId: ACCOUNT, at: START, service: 'bank', number: phone(1) };
const record = (state: object) => new Map([['record', { state, messages: [], expiresAt: START + 1 }]]);

const EMITTERS: readonly Emitter[] = [
  {
    ...{ name: 'an opt-out', type: 'optout.added', data: { number: phone(1), signature: 'SHOP', source: 'phone' } },
    prepare:
      async ({ optOuts }) =>
      () =>
        optOuts.add([optOut()]),
  },
  {
    ...{ name: 'its end', type: 'optout.removed', data: { number: phone(1), signature: 'SHOP', source: 'operator' } },
    prepare: async ({ optOuts }) => {
      await optOuts.add([optOut()]);
      return () => optOuts.remove([optOut()], undefined, removed);
    },
  },
  {
    ...{ name: 'a step of a session', type: 'session.connected' },
    data: { id: aSession(1).id, channel: 'wa', number: phone(1), status: 'connected', reason: 'linked' },
    prepare: async ({ storage }) => {
      const sessions = storage.store(SessionStore);
      const lease = await sessions.create(aSession(1));
      return () => sessions.move(lease, { to: 'connected', reason: 'linked', number: phone(1), at: START });
    },
  },
  {
    ...{ name: 'a top-up', type: 'balance.topped_up', data: { id: 'inv-1', units: 5, note: 'Merci' } },
    prepare:
      async ({ storage }) =>
      () =>
        storage.ledger.post(posting(5, 'topup', 'Merci')),
  },
  {
    ...{ name: 'an adjustment', type: 'balance.adjusted', data: { id: 'inv-1', units: -5, note: null } },
    prepare:
      async ({ storage }) =>
      () =>
        storage.ledger.post(posting(-5, 'adjust')),
  },
  {
    ...{ name: 'a verified signature', type: 'signature.verified', data: { name: 'SHOP', reason: null } },
    prepare: async (world) => {
      await registered(world);
      return () => world.storage.accounts.decideSignature(ACCOUNT, 'SHOP', 'verified', undefined, START);
    },
  },
  {
    ...{
      name: 'a rejected signature',
      type: 'signature.rejected',
      data: { name: 'SHOP', reason: expect.stringMatching(/…$/) },
    },
    prepare: async (world) => {
      await registered(world);
      return () =>
        world.storage.accounts.decideSignature(ACCOUNT, 'SHOP', 'rejected', LONG.replaceAll('\u0001', ''), START);
    },
  },
  {
    ...{ name: 'a key', type: 'key.created', data: { id: 'k1', name: null } },
    prepare:
      async ({ storage }) =>
      () =>
        storage.accounts.addKey(key('k1')),
  },
  {
    ...{ name: 'a key in place of another', type: 'key.rotated', data: { id: 'k2', name: null, replaced: 'k1' } },
    prepare:
      async ({ storage }) =>
      () =>
        storage.accounts.addKey(key('k2'), undefined, 'k1'),
  },
  {
    ...{ name: 'the end of a key', type: 'key.revoked', data: { id: 'k1', name: null } },
    prepare: async ({ storage }) => {
      await storage.accounts.addKey(key('k1'));
      return () => storage.accounts.revokeKey('k1', START);
    },
  },
  {
    ...{ name: 'a verified code', type: 'otp.verified', data: { service: 'bank', number: phone(1) } },
    prepare:
      async ({ storage }) =>
      () =>
        storage.policies.change(['record'], () => {
          return { result: 0, changes: record({ verified: true }), events: codeEvents(code, { kind: 'verified' }) };
        }),
  },
  {
    ...{ name: 'a code that was not compared', type: 'otp.locked' },
    data: { service: 'bank', number: phone(1), retry_after: 60 },
    prepare:
      async ({ storage }) =>
      () =>
        storage.policies.change(
          ['record'],
          () => ({ result: 0, changes: new Map(), events: codeEvents(code, { kind: 'locked', retryAfter: 60 }) }),
          'to-change',
        ),
  },
  {
    ...{ name: 'a low balance', type: 'balance.low', data: { balance: 9, threshold: 10 } },
    prepare: async (world) => {
      await world.storage.accounts.setLowBalance(ACCOUNT, 10);
      await world.spend(991);
      return () => world.tellLow();
    },
  },
];

async function registered({ storage }: World): Promise<void> {
  const open = { status: 'pending', reason: undefined, decidedAt: undefined } as const;
  await storage.accounts.registerSignature({ accountId: ACCOUNT, name: 'SHOP', createdAt: START, ...open });
}

/** Tests of what accounts, the ledger, opt-outs, codes and sessions tell, on any database. */
export function emitterRules(open: () => Promise<DataSource>): void {
  const start = async () => World.open(await open());

  test.each(EMITTERS)('$name is in the log ($type), once and with it', async ({ prepare, type, data }) => {
    const world = await start();
    const act = await prepare(world);
    await world.record();
    await world.withoutTable(() => expect(act()).rejects.toThrow());
    expect(await world.told()).toEqual([]);
    await act();
    expect(await world.told()).toEqual([[type, data]]);
    const [event] = await world.events();
    expect([event?.accountId, event?.at]).toEqual([ACCOUNT, START]);
  });

  test.each(EMITTERS)('$name is not in the log of an account that does not record', async ({ prepare }) => {
    const world = await start();
    await (await prepare(world))();
    await world.record();
    expect([await world.told(), (await world.log.state(ACCOUNT)).last]).toEqual([[], 0]);
  });

  test('what changes nothing tells nothing', async () => {
    const world = await start();
    const { accounts, ledger } = world.storage;
    await accounts.addKey(key('k1'));
    await accounts.revokeKey('k1', START);
    await world.optOuts.add([optOut()]);
    await ledger.post(posting(5));
    await world.record();
    await accounts.addKey(key('k1'));
    await accounts.revokeKey('k1', START + 1);
    await accounts.revokeKey('k9', START);
    await world.optOuts.add([optOut({ id: 'again' })]);
    await world.optOuts.remove([optOut({ number: phone(9) })], undefined, removed);
    await ledger.post(posting(5));
    await ledger.post(posting(-5000, 'adjust'));
    await accounts.decideSignature(ACCOUNT, 'NOBODY', 'verified', undefined, START);
    expect(await world.told()).toEqual([]);
  });

  test('an opt-out for all accounts is in the log of none', async () => {
    const world = await start();
    await world.record();
    await world.log.switchOn(EVERY_ACCOUNT, START);
    const [added] = await world.optOuts.add([optOut({ accountId: EVERY_ACCOUNT })]);
    expect(added).toBeDefined();
    await world.optOuts.remove([optOut({ accountId: EVERY_ACCOUNT })], undefined, removed);
    expect([await world.told(), (await world.log.state(EVERY_ACCOUNT)).last]).toEqual([[], 0]);
  });

  test('steps that share a transaction tell each its own, and one that throws tells nothing', async () => {
    const world = await start();
    await world.record();
    const step = (service: string, fails = false) =>
      world.storage.policies.change([service], () => {
        if (fails) throw new Error('The step has a mistake.');
        const changes = new Map([[service, { state: {}, messages: [], expiresAt: START }]]);
        return { result: service, changes, events: codeEvents({ ...code, service }, { kind: 'verified' }) };
      });
    await Promise.allSettled([step('a'), step('b', true), step('c')]);
    expect((await world.events()).map(({ data }) => (data as { service?: string }).service).sort()).toEqual(['a', 'c']);
  });

  test("what is posted and issued in a host's transaction is in the log after its commit, and not after a rollback", async () => {
    const world = await start();
    const { storage, dataSource, log } = world;
    await world.record();
    const seen: number[] = [];
    const within = (id: string, fails: boolean) =>
      dataSource.transaction(async (manager) => {
        await storage.ledger.post({ ...posting(5), id: `op:${id}` }, { manager });
        await storage.accounts.addKey(key(id), { manager });
        log.whenCommitted({ manager }, () => void seen.push(1));
        if (fails) throw new Error('the host changes its mind');
      });
    await expect(within('undone', true)).rejects.toThrow('mind');
    expect([await world.told(), seen]).toEqual([[], []]);
    await within('kept', false);
    expect(await world.told()).toEqual([
      ['balance.topped_up', { id: 'kept', units: 5, note: null }],
      ['key.created', { id: 'kept', name: null }],
    ]);
    expect(seen).toEqual([1]);
  });

  test('what comes with no change is appended for the accounts that record, and nothing for the others', async () => {
    const world = await start();
    const marks = async () =>
      Number((await world.dataSource.query('SELECT count(*) AS n FROM messaging_event_mark'))[0].n);
    const refused = codeEvents(code, { kind: 'locked', retryAfter: 1 });
    await world.log.append(refused);
    expect(await marks()).toBe(0);
    await world.record();
    const added: unknown[] = [];
    world.log.listen((each) => added.push(each));
    await Promise.all([world.log.append(refused), world.log.append(refused)]);
    expect([await marks(), added]).toEqual([2, [{ accounts: [], marks: true }]]);
    expect(await world.told()).toHaveLength(2);
  });

  lowBalanceRules(start);
}

function lowBalanceRules(start: () => Promise<World>): void {
  const told = async (world: World) => (await world.tellLow()).map(({ data }) => data);
  const withThreshold = async (threshold = 10) => {
    const world = await start();
    expect(await world.storage.accounts.setLowBalance(ACCOUNT, threshold)).toBe(true);
    return world;
  };
  const post = (world: World, units: number, id: string) =>
    world.storage.ledger.post({
      id: `op:${id}`,
      accountId: ACCOUNT,
      kind: units > 0 ? 'topup' : 'adjust',
      units,
      at: START,
    });

  test('a low balance is told once, and again after it was above', async () => {
    const world = await withThreshold();
    await world.spend(990);
    expect(await told(world)).toEqual([]);
    await world.spend(1, 2);
    expect([await told(world), await told(world)]).toEqual([[{ balance: 9, threshold: 10 }], []]);
    await world.spend(1, 3);
    expect(await told(world)).toEqual([]);
    await post(world, 1, 'still-low');
    await world.spend(1, 4);
    expect(await told(world)).toEqual([]);
    await post(world, 2, 'there');
    await world.spend(1, 5);
    expect(await told(world)).toEqual([{ balance: 9, threshold: 10 }]);
  });

  test('a fall that nobody was told of is not lost when the balance rises before', async () => {
    const world = await withThreshold();
    await world.spend(995);
    await post(world, 100, 'rescue');
    expect([await told(world), await told(world)]).toEqual([[{ balance: 105, threshold: 10 }], []]);
    await world.spend(100, 2);
    expect(await told(world)).toEqual([{ balance: 5, threshold: 10 }]);
  });

  test('every debit makes it low: of many accounts, under a key, in a host’s transaction, by hand', async () => {
    const world = await withThreshold();
    const { storage, dataSource } = world;
    const open = async (id: string) => {
      await storage.accounts.createAccount({ id, name: id, createdAt: START });
      await storage.ledger.post({ id: `op:${id}`, accountId: id, kind: 'topup', units: 10, at: START });
      await storage.accounts.setLowBalance(id, 10);
    };
    for (const id of ['b', 'c', 'd', 'e', 'f']) await open(id);
    const low = async () => (await world.tellLow()).map(({ accountId }) => accountId);
    const commit = (...sends: ReturnType<typeof aSend>[]) => storage.outbox.commit(sends, decide, undefined, 'none');
    await commit(aSend(1, { accountId: 'b' }), aSend(2, { accountId: 'c' }));
    expect(await low()).toEqual(['b', 'c']);
    await commit(aSend(3, { accountId: 'd', once: onceKey({ accountId: 'd' }) }));
    expect(await low()).toEqual(['d']);
    const host = (fails: boolean) =>
      dataSource.transaction(async (manager) => {
        await storage.outbox.commit([aSend(4, { accountId: 'e' })], decide, { manager });
        if (fails) throw new Error('the host changes its mind');
      });
    await expect(host(true)).rejects.toThrow('mind');
    expect(await low()).toEqual([]);
    await host(false);
    expect(await low()).toEqual(['e']);
    await storage.ledger.post({ id: 'op:down', accountId: 'f', kind: 'adjust', units: -1, at: START });
    expect(await low()).toEqual(['f']);
    expect(await storage.ledger.check()).toEqual([]);
  });

  test('a refund takes it back above', async () => {
    const world = await withThreshold();
    await world.spend(995);
    expect(await told(world)).toEqual([{ balance: 5, threshold: 10 }]);
    await world.storage.outbox.settle([{ messageId: aSend(1).id, position: 0, status: 'failed', at: START }]);
    expect(await world.storage.ledger.balance(ACCOUNT)).toBe(1000);
    await world.spend(995, 2);
    expect(await told(world)).toEqual([{ balance: 5, threshold: 10 }]);
  });

  test('a threshold over the balance is told at once, another one only where it changes something, and none at all', async () => {
    const world = await withThreshold(2000);
    const set = (units: number | undefined) => world.storage.accounts.setLowBalance(ACCOUNT, units);
    expect(await told(world)).toEqual([{ balance: 1000, threshold: 2000 }]);
    await set(1500);
    expect(await told(world)).toEqual([]);
    await set(1000);
    await world.spend(1);
    expect(await told(world)).toEqual([{ balance: 999, threshold: 1000 }]);
    await set(undefined);
    await world.spend(900, 2);
    expect([await told(world), await world.storage.accounts.setLowBalance('nobody', 1)]).toEqual([[], false]);
  });

  test('two that look at once tell it once', async () => {
    const world = await withThreshold();
    await world.record();
    await world.spend(995);
    const answers = await Promise.all(range(8).map(() => world.tellLow()));
    expect([answers.flat().length, (await world.events()).length]).toEqual([1, 1]);
  });
}
