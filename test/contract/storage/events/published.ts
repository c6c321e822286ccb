import assert from 'node:assert/strict';
import { codeEvents, optOutEvent } from '../../../../src/events/account-events.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import type { OptOut } from '../../../../src/sms/opt-out/opt-out-store.js';
import type { TestRunner } from '../../test-runner.js';
import { aKey } from '../accounts/accounts.js';
import { ACCOUNT, aSend, aSession, phone, recipients, START } from '../fixtures.js';
import { anOptOut } from '../sms/opt-outs.js';
import type { StorageFixture } from '../storage-fixture.js';
import { EventsFixture } from './events-fixture.js';

/** The stores whose changes are events, except for deliveries. */
export type PublishingStores = Pick<
  StorageFixture,
  'accounts' | 'ledger' | 'outbox' | 'policies' | 'optOuts' | 'sessions'
>;

const HASH = '0123456789abcdef'.repeat(4);

/** A change with its event. */
interface Emitter {
  readonly name: string;
  readonly type: string;
  readonly data: unknown;
  /** The preparation of the change. Returns a function that makes it. */
  prepare(stores: PublishingStores): Promise<() => Promise<unknown>>;
}

export const sampleKey = (id: string) => aKey(id, { hash: HASH });
export const samplePosting = (units: number, kind: 'topup' | 'adjust' = 'topup', note?: string) => {
  return { id: 'op:inv-1', accountId: ACCOUNT, kind, units, note, at: START } as const;
};
export const sampleOptOut = (over: Partial<OptOut> = {}) =>
  anOptOut(1, { signature: 'SHOP', source: 'phone', at: START, ...over });
export const sampleRemoval = (entries: readonly OptOut[]) =>
  entries.map((entry) => optOutEvent('optout.removed', { ...entry, at: START }, { ...entry, source: 'operator' }));
export const sampleCode = { accountId: ACCOUNT, at: START, service: 'bank', number: phone(1) };
const record = (state: object) => new Map([['record', { state, messages: [], expiresAt: START + 1 }]]);

/** Each kind of change except those of deliveries. */
export const EMITTERS: readonly Emitter[] = [
  {
    name: 'an opt-out',
    type: 'optout.added',
    data: { number: phone(1), signature: 'SHOP', source: 'phone' },
    prepare:
      async ({ optOuts }) =>
      () =>
        optOuts.add([sampleOptOut()]),
  },
  {
    name: 'its end',
    type: 'optout.removed',
    data: { number: phone(1), signature: 'SHOP', source: 'operator' },
    prepare: async ({ optOuts }) => {
      await optOuts.add([sampleOptOut()]);
      return () => optOuts.remove([sampleOptOut()], undefined, sampleRemoval);
    },
  },
  {
    name: 'a step of a session',
    type: 'session.connected',
    data: { id: aSession(1).id, channel: 'wa', number: phone(1), status: 'connected', reason: 'linked' },
    prepare: async (stores) => {
      const lease = await stores.sessions.create(aSession(1));
      return () => stores.sessions.move(lease, { to: 'connected', reason: 'linked', number: phone(1), at: START });
    },
  },
  {
    name: 'a top-up',
    type: 'balance.topped_up',
    data: { id: 'inv-1', units: 5, note: 'Merci' },
    prepare: async (stores) => () => stores.ledger.post(samplePosting(5, 'topup', 'Merci')),
  },
  {
    name: 'an adjustment',
    type: 'balance.adjusted',
    data: { id: 'inv-1', units: -5, note: null },
    prepare: async (stores) => () => stores.ledger.post(samplePosting(-5, 'adjust')),
  },
  {
    name: 'a verified signature',
    type: 'signature.verified',
    data: { name: 'SHOP', reason: null },
    prepare: async (world) => {
      await registered(world);
      return () => world.accounts.decideSignature(ACCOUNT, 'SHOP', 'verified', undefined, START);
    },
  },
  {
    name: 'a rejected signature',
    type: 'signature.rejected',
    data: { name: 'SHOP', reason: `${'é'.repeat(512)}…` },
    prepare: async (world) => {
      await registered(world);
      return () => world.accounts.decideSignature(ACCOUNT, 'SHOP', 'rejected', 'é'.repeat(5000), START);
    },
  },
  {
    name: 'a key',
    type: 'key.created',
    data: { id: 'k1', name: null },
    prepare: async (stores) => () => stores.accounts.addKey(sampleKey('k1')),
  },
  {
    name: 'a key with a name',
    type: 'key.created',
    data: { id: 'k1', name: 'Shop' },
    prepare: async (stores) => () => stores.accounts.addKey({ ...sampleKey('k1'), name: 'Shop' }),
  },
  {
    name: 'a key in place of another',
    type: 'key.rotated',
    data: { id: 'k2', name: null, replaced: 'k1' },
    prepare: async (stores) => {
      await stores.accounts.addKey(sampleKey('k1'));
      return () => stores.accounts.rotateKey('k1', sampleKey('k2'), START);
    },
  },
  {
    name: 'the end of a key',
    type: 'key.revoked',
    data: { id: 'k1', name: null },
    prepare: async (stores) => {
      await stores.accounts.addKey(sampleKey('k1'));
      return () => stores.accounts.revokeKey('k1', START);
    },
  },
  {
    name: 'a verified code',
    type: 'otp.verified',
    data: { service: 'bank', number: phone(1) },
    prepare: async (stores) => () =>
      stores.policies.change(['record'], () => {
        return { result: 0, changes: record({ verified: true }), events: codeEvents(sampleCode, { kind: 'verified' }) };
      }),
  },
  {
    name: 'a code that was not compared',
    type: 'otp.locked',
    data: { service: 'bank', number: phone(1), retry_after: 60 },
    prepare: async (stores) => () =>
      stores.policies.change(
        ['record'],
        () => ({ result: 0, changes: new Map(), events: codeEvents(sampleCode, { kind: 'locked', retryAfter: 60 }) }),
        'to-change',
      ),
  },
  {
    name: 'a low balance',
    type: 'balance.low',
    data: { balance: 9, threshold: 10 },
    prepare: async (world) => {
      await world.accounts.setLowBalance(ACCOUNT, 10);
      await spend(world, 991);
      return () => world.ledger.publishLow(START, 9);
    },
  },
];

async function registered({ accounts }: PublishingStores): Promise<void> {
  const open = { status: 'pending', reason: undefined, decidedAt: undefined } as const;
  await accounts.registerSignature({ accountId: ACCOUNT, name: 'SHOP', createdAt: START, ...open });
}

async function spend({ outbox }: Pick<PublishingStores, 'outbox'>, units: number, index = 1): Promise<void> {
  const send = aSend(index, { recipients: recipients(1, units) });
  const [outcome] = await outbox.commit([send], decide, undefined, 'none');
  assert.equal(outcome?.kind, 'accepted');
}

export function publishedEventTests({ test }: TestRunner, world: StorageFixture): void {
  const steps = new EventsFixture(world);

  for (const { name, type, data, prepare } of EMITTERS) {
    test(`${name} is recorded, once (${type})`, async () => {
      await world.fund(1000);
      const act = await prepare(world);
      await steps.log.switchOn(ACCOUNT, START);
      await act();
      assert.deepEqual(await steps.events(), [{ accountId: ACCOUNT, sequence: 1, at: START, type, data }]);
    });

    test(`${name} is not recorded before the log is switched on`, async () => {
      await world.fund(1000);
      await (await prepare(world))();
      assert.equal((await steps.log.switchOn(ACCOUNT, START)).last, 0);
    });
  }

  test('a write that changes nothing has no event', async () => {
    const { accounts, ledger, optOuts } = world;
    await world.fund(0);
    await accounts.addKey(sampleKey('k1'));
    await accounts.revokeKey('k1', START);
    await optOuts.add([sampleOptOut()]);
    await ledger.post(samplePosting(5));
    await steps.log.switchOn(ACCOUNT, START);
    await accounts.addKey(sampleKey('k1'));
    await accounts.revokeKey('k1', START + 1);
    await accounts.revokeKey('k9', START);
    await optOuts.add([sampleOptOut({ id: 'again' })]);
    await optOuts.remove([sampleOptOut({ number: phone(9) })], undefined, sampleRemoval);
    await ledger.post(samplePosting(5));
    await ledger.post(samplePosting(-5000, 'adjust'));
    await accounts.decideSignature(ACCOUNT, 'NOBODY', 'verified', undefined, START);
    assert.deepEqual(await steps.events(), []);
  });

  lowBalanceTests({ test }, world);
}

function lowBalanceTests({ test }: Pick<TestRunner, 'test'>, world: StorageFixture): void {
  const published = async () => (await world.ledger.publishLow(START, 9)).map(({ data }) => data);
  const set = (units: number | undefined, id = ACCOUNT) => world.accounts.setLowBalance(id, units);
  const post = (units: number, id: string) => {
    return world.ledger.post({ ...samplePosting(units, units > 0 ? 'topup' : 'adjust'), id: `op:${id}` });
  };

  test('a low balance is reported once, and again after it was above', async () => {
    await world.fund(1000);
    assert.equal(await set(10), true);
    await spend(world, 990);
    assert.deepEqual(await published(), []);
    await spend(world, 1, 2);
    assert.deepEqual([await published(), await published()], [[{ balance: 9, threshold: 10 }], []]);
    await post(-1, 'less');
    await post(1, 'still-low');
    assert.deepEqual(await published(), []);
    await post(1, 'there');
    await post(-1, 'low');
    assert.deepEqual(await published(), [{ balance: 9, threshold: 10 }]);
  });

  test('a low balance that was not yet reported is not lost if the balance rises before that', async () => {
    await world.fund(1000);
    await set(10);
    await spend(world, 995);
    await post(100, 'rescue');
    assert.deepEqual([await published(), await published()], [[{ balance: 105, threshold: 10 }], []]);
    await spend(world, 100, 2);
    assert.deepEqual(await published(), [{ balance: 5, threshold: 10 }]);
  });

  test('a refund lifts a low balance above the threshold again', async () => {
    await world.fund(1000);
    await set(10);
    for (const index of [1, 2]) {
      await spend(world, 995, index);
      assert.deepEqual(await published(), [{ balance: 5, threshold: 10 }]);
      await world.settle(aSend(index).id, 'failed');
      await world.holds(1000);
    }
  });

  test('a threshold above the balance is reported at once, another one only if it changes something, and removing it never', async () => {
    await world.fund(1000);
    await set(2000);
    assert.deepEqual(await published(), [{ balance: 1000, threshold: 2000 }]);
    await set(1500);
    assert.deepEqual(await published(), []);
    await set(1000);
    await spend(world, 1);
    assert.deepEqual(await published(), [{ balance: 999, threshold: 1000 }]);
    await set(undefined);
    await spend(world, 900, 2);
    assert.deepEqual([await published(), await set(1, 'nobody')], [[], false]);
  });
}
