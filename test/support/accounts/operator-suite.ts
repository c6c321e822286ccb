import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import type { LedgerPosting } from '../../../src/billing/ledger-entry.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EventPublisher } from '../../../src/events/event-publisher.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import {
  type AccountCall,
  ManagedAccountStore,
} from '../../../src/management/operator/accounts/managed-account-store.js';
import { ManagedAccounts } from '../../../src/management/operator/accounts/managed-accounts.js';
import { CheckRunStore } from '../../../src/management/operator/ledger-checks/check-run-store.js';
import { ManagedSessionStore } from '../../../src/management/operator/managed-session-store.js';
import { OperatingControl } from '../../../src/management/operator/operations/operating-control.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { Idempotency } from '../../../src/outbox/idempotency.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { aSend, aSession, onceKey, range, START } from '../../contract/storage/fixtures.js';
import type { OpenStorage, StorageHarness } from '../../contract/storage/storage-harness.js';

/** The stores of a separate process over a storage. */
function managedOver(storage: MessagingStorage): ManagedAccounts {
  const [clock, ids, events] = [new FakeClock(START), new UuidGenerator(), new MessagingEvents()];
  const ledger = new LedgerService(
    storage.store(LedgerStore),
    clock,
    ids,
    new EventPublisher(events, storage.store(EventLog)),
  );
  const idempotency = new Idempotency(storage.store(OutboxStore), clock);
  return new ManagedAccounts(storage.store(ManagedAccountStore), ledger, idempotency, new LocalNotifier(), clock, ids);
}

const BY = { kind: 'operator', id: 'odile' } as const;

/** Tests of the stores behind `/manage` on every database. */
export function operatorSuite(open: OpenStorage): void {
  let harness: StorageHarness;
  beforeEach(async () => {
    harness = await open();
  });
  afterEach(() => harness.close());

  const accounts = () => harness.storage.store(ManagedAccountStore);
  const control = () => harness.storage.store(OperatingControl);
  const call = (over: Partial<AccountCall> = {}): AccountCall => ({
    by: BY,
    at: START,
    once: undefined,
    replyOf: ({ id, state }) => ({ id, state }),
    ...over,
  });
  const make = (id: string, name = id, at = START) => accounts().create({ id, name, createdAt: at }, call());
  const actions = async () => {
    const { items } = await harness.storage.store(AuditLog).list({ limit: 100 });
    return items.toReversed().map(({ action, target }) => `${action} ${target}`);
  };

  test('20 simultaneous postings with one reference, over two processes, post once and are published once', async () => {
    await make('shop');
    const other = await harness.another?.();
    const posting: LedgerPosting = { id: 'op:r', accountId: 'shop', kind: 'topup', units: 7, at: START, by: BY };
    const ledgers = [
      harness.storage.store(LedgerStore),
      other?.store(LedgerStore) ?? harness.storage.store(LedgerStore),
    ];
    const answers = await Promise.all(range(20).map((index) => ledgers[index % 2]?.post(posting)));
    expect(answers.filter((answer) => answer === 'posted')).toHaveLength(1);
    expect(answers.filter((answer) => answer === 'repeated')).toHaveLength(19);
    expect(await harness.storage.store(LedgerStore).balance('shop')).toBe(7);
    expect(await actions()).toEqual(['account.created shop', 'balance.topped_up r']);
    const { items } = await harness.storage.store(LedgerStore).entries('shop', { limit: 10 });
    expect(items).toMatchObject([{ id: 'op:r', units: 7 }]);
  });

  test('one key with two bodies, over two processes, posts one of them, and the other is refused', async () => {
    await make('shop');
    const other = (await harness.another?.()) ?? harness.storage;
    const processes = [harness.storage, other].map((storage) => managedOver(storage));
    const post = async (index: number) => {
      const body = { units: 1 + (index % 2), reference: `r${index % 2}` };
      const { reply, replayed } =
        (await processes[index % 2]?.topUp('shop', body, { by: BY, once: { key: 'k', body } })) ?? {};
      return { reply, replayed };
    };
    const answers = await Promise.allSettled([post(0), post(1)]);
    const [kept] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(kept).toMatchObject({ replayed: false });
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'error.idempotency_mismatch' } }]);
    const winner = answers[0]?.status === 'fulfilled' ? 0 : 1;
    expect(await harness.storage.store(LedgerStore).balance('shop')).toBe(1 + winner);
    expect(await actions()).toEqual(['account.created shop', `balance.topped_up r${winner}`]);
    expect(await post(winner)).toEqual({ reply: kept?.reply, replayed: true });
    await expect(post(1 - winner)).rejects.toMatchObject({ code: 'error.idempotency_mismatch' });
    // Keys of different accounts are different, as their paths are.
    await make('stall');
    const body = { units: 5, reference: 'r5' };
    await processes[0]?.topUp('stall', body, { by: BY, once: { key: 'k', body } });
    expect(await harness.storage.store(LedgerStore).balance('stall')).toBe(5);
  });

  test('two creations under one key, over two processes, create one account', async () => {
    const other = (await harness.another?.()) ?? harness.storage;
    const processes = [harness.storage, other].map((storage) => managedOver(storage));
    for (const key of ['k1', 'k2', 'k3']) {
      const body = { name: key };
      const create = (managed: ManagedAccounts) => managed.create(body, { by: BY, once: { key, body } });
      const answers = await Promise.all(processes.map(create));
      expect(answers.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
      expect(answers[1]?.reply).toEqual(answers[0]?.reply);
    }
    const { items } = await accounts().list({ limit: 10 });
    expect(items.map(({ name }) => name).sort()).toEqual(['k1', 'k2', 'k3']);
    expect(await actions()).toHaveLength(3);
  });

  test('a change that is requested 20 times at once under one key is made once', async () => {
    await make('shop');
    const once = onceKey({ accountId: 'operator:x', route: 'manage/accounts/shop/suspend' });
    const change = () => accounts().change('shop', { state: 'suspended' }, call({ once }));
    const answers = await Promise.all(range(20).map(change));
    expect(answers.filter((answer) => answer?.replayed === false)).toHaveLength(1);
    await accounts().change('shop', { state: 'active' }, call());
    expect(await change()).toEqual({ reply: { id: 'shop', state: 'suspended' }, replayed: true });
    expect(await accounts().find('shop')).toMatchObject({ state: 'active' });
    const mismatch = call({ once: { ...once, fingerprint: 'other' } });
    await expect(accounts().change('shop', { state: 'closed' }, mismatch)).rejects.toThrow();
    expect(await accounts().change('none', { name: 'x' }, call())).toBeUndefined();
    expect(await actions()).toEqual(['account.created shop', 'account.suspended shop', 'account.resumed shop']);
  });

  test('accounts are found by the beginning of their ids and names, and listed page by page', async () => {
    const names = ['Z', 'b_', 'a%', 'b', 'Été', 'b'];
    for (const [index, name] of names.entries())
      await make(['b2', 'a1', 'c3', 'b%1', 'd4', 'e5'][index] ?? '', name, START + index);
    const walk = async (begins?: string) => {
      const ids: string[] = [];
      for (let after: string | undefined; ; ) {
        const { items, next } = await accounts().list({ limit: 2, begins, after });
        ids.push(...items.map(({ id }) => id));
        if (next === undefined) return ids;
        after = next;
      }
    };
    expect(await walk()).toEqual(['e5', 'd4', 'b%1', 'c3', 'a1', 'b2']);
    expect(await walk('b')).toEqual(['b%1', 'b2', 'e5', 'a1']);
    expect(await walk('b%')).toEqual(['b%1']);
    expect(await walk('b_')).toEqual(['a1']);
    expect(await walk('É')).toEqual(['d4']);
    expect(await walk('z')).toEqual([]);
  });

  test('signatures are listed in the order in which they wait, also those of the same moment', async () => {
    for (const id of ['a', 'b']) {
      await make(id);
      for (const name of ['TWO', 'ONE']) {
        await harness.storage.store(AccountStore).registerSignature({
          accountId: id,
          name,
          status: 'pending',
          reason: undefined,
          createdAt: START,
          decidedAt: undefined,
        });
      }
    }
    await harness.storage.store(AccountStore).decideSignature('a', 'ONE', 'verified', undefined, START, BY);
    const found: string[] = [];
    for (;;) {
      const { items: all } = await accounts().signatures({ limit: 100 });
      const after = all.find(({ accountId, name }) => `${accountId} ${name}` === found.at(-1));
      const { items } = await accounts().signatures({ limit: 1, after });
      const [next] = items;
      if (!next) break;
      found.push(`${next.accountId} ${next.name}`);
    }
    expect(found).toEqual(['a TWO', 'b ONE', 'b TWO', 'a ONE']);
  });

  test('pauses and rests are stored once each, and listed with their scope', async () => {
    const at = { by: BY, at: START };
    const scope = { channel: 'sms', accountId: 'a' };
    for (const each of [scope, scope, { ...scope, accountId: undefined }]) await control().pause(each, at);
    await Promise.all(range(5).map(() => control().rest('near', at)));
    expect(await control().state()).toEqual({
      pauses: expect.arrayContaining([
        { ...scope, since: START },
        { channel: 'sms', accountId: undefined, since: START },
      ]),
      rested: new Set(['near']),
    });
    await control().resume({ channel: undefined, accountId: 'a' }, at);
    await control().resume(scope, at);
    await control().resumeRoute('near', at);
    await control().resumeRoute('near', at);
    expect(await control().state()).toMatchObject({ pauses: [{ accountId: undefined }], rested: new Set() });
    expect(await actions()).toEqual([
      'queue.paused sms',
      'queue.paused sms',
      'route.rested near',
      'queue.resumed sms',
      'route.resumed near',
    ]);
  });

  test('the depth of a queue and its earliest due time are counted over all accounts', async () => {
    const ids = range(30).map((index) => `acc-${index}`);
    for (const id of ids) await make(id);
    for (const id of ids) {
      await harness.storage
        .store(LedgerStore)
        .post({ id: `op:${id}`, accountId: id, kind: 'topup', units: 9, at: START });
    }
    const outbox = harness.storage.store(OutboxStore);
    await outbox.commit(
      ids.map((accountId, index) => aSend(index, { accountId, at: START + 100 - index })),
      decide,
    );
    await outbox.commit([aSend(100, { accountId: 'acc-1', channel: 'wa', lane: 'l', priority: 'high' })], decide);
    const depths = await control().depths(['sms', 'wa']);
    expect(depths).toHaveLength(8);
    expect(depths.filter(({ depth }) => depth > 0)).toEqual([
      { channel: 'sms', priority: 'normal', depth: 30, oldestDue: START + 71 },
      { channel: 'wa', priority: 'high', depth: 1, oldestDue: START },
    ]);
  });

  test('of checks that begin at once only one runs, and an interrupted one gives way', async () => {
    const other = (await harness.another?.()) ?? harness.storage;
    const begin = (id: string, at = START) => {
      const store = [harness.storage, other][Number(id) % 2]?.store(CheckRunStore);
      const entry = { accountId: undefined, at, by: BY, action: 'ledger.checked', target: id } as const;
      return store?.begin({ id, at, leaseUntil: at + 60_000 }, entry);
    };
    const begun = await Promise.all(range(6).map((index) => begin(String(index))));
    expect(begun.filter(Boolean)).toHaveLength(1);
    const id = String(begun.indexOf(true));
    const store = harness.storage.store(CheckRunStore);
    expect(await store.step({ id, part: 'entries', checked: 5, leaseUntil: START + 90_000 })).toBe(true);
    expect(await store.step({ id: 'x', part: 'entries', checked: 6, leaseUntil: START })).toBe(false);
    expect(await store.last(START)).toMatchObject({ id, state: 'running', part: 'entries', checked: 5 });
    expect(await store.last(START + 90_000)).toMatchObject({ id, state: 'failed', endedAt: START + 90_000 });
    expect(await begin('8', START + 89_999)).toBe(false);
    expect(await begin('8', START + 90_000)).toBe(true);
    // Results that the earlier check still stores do not count.
    await store.end({ id, state: 'done', findings: ['no'], at: START });
    await store.end({ id: '8', state: 'done', findings: ['yes'], at: START + 91_000 });
    expect(await store.last(START)).toMatchObject({ id: '8', state: 'done', findings: ['yes'] });
    expect(await actions()).toEqual([`ledger.checked ${id}`, 'ledger.checked 8']);
  });

  test('linked numbers of all accounts and channels are listed newest first', async () => {
    const sessions = harness.storage.store(SessionStore);
    for (const [index, accountId] of ['a', 'b', 'a'].entries()) {
      await sessions.create(aSession(index, { accountId, channel: `wa${index}` }));
    }
    const store = harness.storage.store(ManagedSessionStore);
    const first = await store.list({ limit: 2 });
    expect(first.items.map(({ channel }) => channel)).toEqual(['wa2', 'wa1']);
    expect((await store.list({ limit: 2, after: first.next })).items.map(({ channel }) => channel)).toEqual(['wa0']);
    expect((await store.list({ limit: 9, accountId: 'a' })).items).toHaveLength(2);
    expect((await store.list({ limit: 9, status: 'connected' })).items).toEqual([]);
  });
}
