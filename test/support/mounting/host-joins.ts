import { expect, test } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { AccountService } from '../../../src/accounts/account-service.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { aSend } from '../../contract/storage/fixtures.js';
import { checkLedger } from '../accounts/money-races.js';
import { until } from '../common/until.js';
import { ask, balanceOf, phoneOf } from '../http/sms-client.js';
import type { MessagingApp } from './messaging-app.js';

/**
 * An application on a DataSource of its host, with 10 units on its account, whose workers are woken only by
 * notifications.
 */
export interface AppOnHosts {
  readonly app: MessagingApp;
  readonly dataSource: DataSource;
}

/** Tests of work in a host's own transactions, for any database. */
export function testHostJoins(start: () => Promise<AppOnHosts>): void {
  test('a send in the host’s transaction is committed or rolled back with it', async () => {
    const { app, dataSource } = await start();
    await expectHostJoins(app, dataSource);
  });

  test('several sends in one transaction of the host are each complete', async () => {
    const { app, dataSource } = await start();
    await expectHostJoinsWhole(app, dataSource);
  });

  test('the effects of a send’s commit follow the commit of the host’s outermost transaction, unless the send was rolled back before', async () => {
    const { app, dataSource } = await start();
    await expectHostNests(app, dataSource);
  });

  test('a payment and its units are booked in one transaction of the host', async () => {
    const { app, dataSource } = await start();
    await expectHostBooks(app, dataSource);
  });

  test('a customer, their account, its first units and its key are created in one transaction of the host', async () => {
    const { app, dataSource } = await start();
    await expectHostSignsUp(app, dataSource);
  });
}

/** `SmsService.send(…, { host: { manager } })` on an account with 10 units, beside a table of the host's own. */
async function expectHostJoins(app: MessagingApp, dataSource: DataSource): Promise<void> {
  const sms = app.app.get(SmsService, { strict: false });
  const send = (manager: EntityManager, index: number, count = 1) =>
    sms.send(
      app.accountId,
      {
        signature: 'INFOS',
        content: 'Bonjour',
        metadata: { order: String(index) },
        number: Array.from({ length: count }, (_, at) => phoneOf(index + at)),
      },
      { host: { manager } },
    );
  const orders = async () =>
    (await dataSource.query('SELECT id FROM host_order ORDER BY id')).map(({ id }: { id: number }) => Number(id));
  const order = (manager: EntityManager, id: number) => manager.query(`INSERT INTO host_order (id) VALUES (${id})`);
  await dataSource.query('CREATE TABLE host_order (id integer PRIMARY KEY)');

  // Committed together, and delivered.
  const { smsID } = await dataSource.transaction(async (manager) => {
    await order(manager, 1);
    return send(manager, 1, 3);
  });
  expect([await orders(), await balanceOf(app)]).toEqual([[1], 7]);
  await until(
    () => sms.get(app.accountId, smsID),
    ({ recipients }) => recipients.every(({ status }) => status === 'delivered'),
  );

  expect((await sms.get(app.accountId, smsID)).metadata).toEqual({ order: '1' });

  // Rolled back together.
  let undone = '';
  const host = dataSource.transaction(async (manager) => {
    await order(manager, 2);
    undone = (await send(manager, 10)).smsID;
    throw new Error('the host changes its mind');
  });
  await expect(host).rejects.toThrow('the host changes its mind');
  expect([await orders(), await balanceOf(app)]).toEqual([[1], 7]);
  await expect(sms.get(app.accountId, undone)).rejects.toMatchObject({ code: 'error.message_not_found' });

  // A refusal throws, so a host that does not catch it rolls back. A host that catches it goes on.
  const poor = dataSource.transaction(async (manager) => {
    await order(manager, 3);
    await send(manager, 20, 8);
  });
  await expect(poor).rejects.toMatchObject({ code: 'error.insufficient_balance' });
  expect([await orders(), await balanceOf(app)]).toEqual([[1], 7]);
  await dataSource.transaction(async (manager) => {
    await expect(send(manager, 30, 8)).rejects.toMatchObject({ code: 'error.insufficient_balance' });
    await order(manager, 4);
  });
  expect([await orders(), await balanceOf(app)]).toEqual([[1, 4], 7]);

  // A manager without an open transaction would not have the effect that the caller expects.
  await expect(send(dataSource.manager, 40)).rejects.toMatchObject({ code: 'error.storage_unavailable' });
  expect(await balanceOf(app)).toBe(7);
  expect(await checkLedger([app])).toEqual([]);
}

/** Other work in one transaction of the host, besides a single send. */
async function expectHostJoinsWhole(app: MessagingApp, dataSource: DataSource): Promise<void> {
  const { accountId } = app;
  const sms = app.app.get(SmsService, { strict: false });
  const outbox = app.app.get(OutboxStore, { strict: false });
  const left = Number(await balanceOf(app));
  const draft = (index: number) => ({ signature: 'INFOS', content: 'Bonjour', number: [phoneOf(index)] });

  // At once: their locks belong to one transaction, so they do not block each other.
  const all = await dataSource.transaction((manager) =>
    Promise.allSettled(
      Array.from({ length: left + 3 }, (_, index) => sms.send(accountId, draft(100 + index), { host: { manager } })),
    ),
  );
  expect(all.map(({ status }) => status)).toEqual([...Array(left).fill('fulfilled'), ...Array(3).fill('rejected')]);
  expect([await balanceOf(app), await checkLedger([app])]).toEqual([0, []]);

  // A piece that fails half-way is rolled back by itself, and its host goes on.
  await app.app.get(LedgerService, { strict: false }).topUp(accountId, 5);
  const send = aSend(1, { accountId });
  await outbox.commit([send], decide);
  await dataSource.transaction(async (manager) => {
    await expect(outbox.commit([aSend(2, { accountId }), send], decide, { manager })).rejects.toThrow();
    await sms.send(accountId, draft(200), { host: { manager } });
  });
  expect(await outbox.find(accountId, 'sms', aSend(2).id)).toBeUndefined();
  expect([await balanceOf(app), await checkLedger([app])]).toEqual([3, []]);

  // Reads that a send needs are made in the transaction too. Elsewhere they would wait for its end.
  const signatures = app.app.get(SignatureService, { strict: false });
  await signatures.register(accountId, 'BOUTIQUE');
  await signatures.verify(accountId, 'BOUTIQUE');
  const once = { key: 'order-1', body: 'order 1' };
  const twice = await dataSource.transaction(async (manager) => {
    const options = { once, host: { manager } };
    const first = await sms.send(accountId, { ...draft(300), signature: 'BOUTIQUE' }, options);
    return [first, await sms.send(accountId, { ...draft(300), signature: 'BOUTIQUE' }, options)];
  });
  expect(twice[1]).toEqual(twice[0]);
  expect([await balanceOf(app), await checkLedger([app])]).toEqual([2, []]);
}

/** Transactions within a transaction of the host, which TypeORM turns into savepoints. */
async function expectHostNests({ app }: MessagingApp, dataSource: DataSource): Promise<void> {
  const store = app.get(OutboxStore, { strict: false });
  const committed: string[] = [];
  const remember = (manager: EntityManager, what: string) =>
    store.whenCommitted({ manager }, () => void committed.push(what));
  await dataSource.transaction(async (outer) => {
    remember(outer, 'before');
    const undone = outer.transaction(async (inner) => {
      await inner.transaction(async (innermost) => remember(innermost, 'committed in what is undone'));
      remember(inner, 'undone');
      throw new Error('the host changes its mind');
    });
    await expect(undone).rejects.toThrow('the host changes its mind');
    await outer.transaction(async (inner) => remember(inner, 'kept'));
    remember(outer, 'after');
    expect(committed).toEqual([]);
  });
  expect(committed).toEqual(['before', 'kept', 'after']);
}

/** `LedgerService.topUp(…, { host: { manager } })`, beside a table of the host's own. */
async function expectHostBooks(app: MessagingApp, dataSource: DataSource): Promise<void> {
  const { accountId } = app;
  const ledger = app.app.get(LedgerService, { strict: false });
  const sms = app.app.get(SmsService, { strict: false });
  const before = Number(await balanceOf(app));
  await dataSource.query('CREATE TABLE host_payment (id integer PRIMARY KEY)');
  const pay = (manager: EntityManager, id: number) => manager.query(`INSERT INTO host_payment (id) VALUES (${id})`);
  const payments = async () =>
    (await dataSource.query('SELECT id FROM host_payment ORDER BY id')).map(({ id }: { id: number }) => Number(id));

  // Units are there at once for the transaction that bought them, and a reference posts only once in it too.
  await dataSource.transaction(async (manager) => {
    const host = { manager };
    await pay(manager, 1);
    expect(await ledger.topUp(accountId, 7, { reference: 'pay-1', host })).toBe(before + 7);
    expect(await ledger.topUp(accountId, 7, { reference: 'pay-1', host })).toBe(before + 7);
    await sms.send(accountId, { signature: 'INFOS', content: 'Merci', number: [phoneOf(1)] }, { host });
    expect(await ledger.balance(accountId, host)).toBe(before + 6);
  });
  expect([await payments(), await balanceOf(app)]).toEqual([[1], before + 6]);

  // A payment that is rolled back takes its units with it, and its reference is free again.
  const undone = dataSource.transaction(async (manager) => {
    await pay(manager, 2);
    await ledger.topUp(accountId, 9, { reference: 'pay-2', host: { manager } });
    throw new Error('the card was refused');
  });
  await expect(undone).rejects.toThrow('the card was refused');
  expect([await payments(), await balanceOf(app)]).toEqual([[1], before + 6]);
  expect(await ledger.topUp(accountId, 9, { reference: 'pay-2' })).toBe(before + 15);

  // A refusal leaves the host's transaction unchanged.
  await dataSource.transaction(async (manager) => {
    const options = { host: { manager } };
    await pay(manager, 3);
    await expect(ledger.adjust(accountId, -1000, options)).rejects.toMatchObject({
      code: 'error.insufficient_balance',
    });
    const taken = ledger.topUp(accountId, 8, { ...options, reference: 'pay-1' });
    await expect(taken).rejects.toMatchObject({ code: 'error.reference_taken' });
  });
  expect([await payments(), await balanceOf(app)]).toEqual([[1, 3], before + 15]);
  expect(await checkLedger([app])).toEqual([]);
}

/** `AccountService.createAccount` and `issueKey` with `{ host: { manager } }`, beside a table of the host's own. */
async function expectHostSignsUp({ app, url }: MessagingApp, dataSource: DataSource): Promise<void> {
  const accounts = app.get(AccountService, { strict: false });
  const ledger = app.get(LedgerService, { strict: false });
  await dataSource.query('CREATE TABLE host_customer (id text PRIMARY KEY)');
  const customers = async () =>
    (await dataSource.query('SELECT id FROM host_customer ORDER BY id')).map(({ id }: { id: string }) => id);
  const signUp = async (manager: EntityManager, id: string) => {
    const options = { host: { manager } };
    await manager.query(`INSERT INTO host_customer (id) VALUES ('${id}')`);
    await accounts.createAccount({ id, name: 'A customer' }, options);
    await ledger.topUp(id, 5, options);
    return (await accounts.issueKey(id, options)).key;
  };
  const balanceUnder = async (key: string) => {
    const { status, body } = await ask({ url, key }, 'api/v1/balance');
    return [status, body.balance];
  };

  let undone = '';
  const host = dataSource.transaction(async (manager) => {
    undone = await signUp(manager, 'ann');
    throw new Error('the form was abandoned');
  });
  await expect(host).rejects.toThrow('the form was abandoned');
  expect([await customers(), await accounts.findAccount('ann'), await balanceUnder(undone)]).toEqual([
    [],
    undefined,
    [401, undefined],
  ]);

  const key = await dataSource.transaction((manager) => signUp(manager, 'ann'));
  expect([await customers(), await balanceUnder(key)]).toEqual([['ann'], [200, 5]]);

  // A refusal leaves the host's transaction unchanged.
  await dataSource.transaction(async (manager) => {
    const options = { host: { manager } };
    await manager.query("INSERT INTO host_customer (id) VALUES ('bob')");
    const again = accounts.createAccount({ id: 'ann', name: 'Another' }, options);
    await expect(again).rejects.toMatchObject({ code: 'error.account_exists' });
    await expect(accounts.issueKey('bob', options)).rejects.toMatchObject({ code: 'error.account_not_found' });
  });
  expect([await customers(), await ledger.checkLedger()]).toEqual([['ann', 'bob'], []]);
}
