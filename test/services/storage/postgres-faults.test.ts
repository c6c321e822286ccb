import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { StoreClass } from '../../../src/storage/engine/database.js';
import { HeldAccount } from '../../support/accounts/held-account.js';
import { checkLedger, expectExactlyTheBalance, expectOneSend } from '../../support/accounts/money-races.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { CrashBooks } from '../../support/crash/crash-books.js';
import { CrashLoad } from '../../support/crash/crash-load.js';
import { crashLoop } from '../../support/crash/crash-loop.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { expectStandingTransactionEnds } from '../../support/databases/standing-transaction.js';
import { inPlaceOf } from '../../support/databases/store-in-place.js';
import { BackendTerminator } from '../../support/databases/terminate-backends.js';
import { balanceOf, type SmsTarget, sendSms, tallyOf } from '../../support/http/sms-client.js';
import { type AppOnHosts, testHostJoins } from '../../support/mounting/host-joins.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { expectStartSentences } from '../../support/storage/start-sentences.js';

const suite = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const drops: (() => Promise<void>)[] = [];
const opened = closeAfterEach();
let url = '';

/** Like the real store, except that no send may overtake another account's. */
class PatientStorage extends TypeormStorage {
  override store<S extends object>(Store: StoreClass<S>): S {
    const store = super.store(OutboxStore);
    const commit: OutboxStore['commit'] = (sends, decide, host) => store.commit(sends, decide, host, 'all');
    return inPlaceOf(Store, Object.create(store, { commit: { value: commit } })) ?? super.store(Store);
  }
}

async function start(units = 1000, Storage = TypeormStorage): Promise<MessagingApp> {
  const storage = { useValue: new Storage({ database: url }) };
  return opened(await startMessaging('fastify', { storage }, { units }));
}

/** Another account of the same service. */
async function another({ app, url: base }: MessagingApp): Promise<SmsTarget> {
  const accounts = app.get(AccountService, { strict: false });
  const { id } = await accounts.createAccount({ name: 'Autre' });
  await app.get(LedgerService, { strict: false }).topUp(id, 1000);
  return { url: base, key: (await accounts.issueKey(id)).key };
}

suite('PostgreSQL', () => {
  beforeEach(async () => {
    const database = await createPostgresDatabase();
    url = database.url;
    drops.push(database.drop);
  });

  afterAll(async () => {
    for (const drop of drops) await drop();
  });

  test('a start that is not possible says why in a sentence', () => expectStartSentences(url));

  test('exactly 100 of 200 simultaneous sends succeed on a balance for 100, over two instances', async () => {
    const first = await start(100);
    await expectExactlyTheBalance([first, await start()]);
  });

  test('50 simultaneous requests under one key, over two instances, send once', async () => {
    const first = await start();
    await expectOneSend([first, await start()]);
  });

  testHostJoins(startOnHosts);

  async function startOnHosts(): Promise<AppOnHosts> {
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
    opened({ close: () => dataSource.destroy() });
    const options = { storage: TypeormStorage.forRoot({ dataSource }), dispatch: { pollMs: 60_000 } };
    return { app: opened(await startMessaging('express', options, { units: 10 })), dataSource };
  }

  test('an account whose row is locked does not delay the others; its own sends go on when it is free', async () => {
    const app = await start();
    const other = await another(app);
    const held = opened(await HeldAccount.hold(url, app.accountId));
    let answered = 0;
    const waiting = Array.from({ length: 20 }, () => sendSms(app).finally(() => answered++));
    await held.awaited();
    const free = await Promise.all(Array.from({ length: 50 }, () => sendSms(other)));
    expect([tallyOf(free), answered]).toEqual([{ '200': 50 }, 0]);
    await held.release();
    expect(tallyOf(await Promise.all(waiting))).toEqual({ '200': 20 });
    expect([await balanceOf(app), await balanceOf(other)]).toEqual([980, 950]);
    expect(await checkLedger([app])).toEqual([]);
  });

  test('without a separate lane for such accounts the others would wait', async () => {
    const app = await start(1000, PatientStorage);
    const other = await another(app);
    const held = opened(await HeldAccount.hold(url, app.accountId));
    const waiting = sendSms(app);
    await held.awaited();
    let answered = false;
    const stalled = sendSms(other).finally(() => {
      answered = true;
    });
    for (let look = 0; look < 20; look++) expect(await balanceOf(other)).toBe(1000);
    expect(answered).toBe(false);
    await held.release();
    expect(tallyOf([await waiting, await stalled])).toEqual({ '200': 2 });
  });

  test('an account that is locked for too long: 503, and nothing is charged', async () => {
    const app = await start();
    const held = opened(await HeldAccount.hold(url, app.accountId));
    const refused = await Promise.all([sendSms(app), sendSms(app)]);
    expect(tallyOf(refused)).toEqual({ '503 Service momentanément indisponible': 2 });
    expect(refused.map(({ headers }) => headers.get('retry-after'))).toEqual(['1', '1']);
    await held.release();
    expect(await balanceOf(app)).toBe(1000);
    expect((await sendSms(app)).status).toBe(200);
    expect(await checkLedger([app])).toEqual([]);
  });

  test('a transaction of a process that stands still releases its rows to the next one', async () => {
    const { accountId } = await start();
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
    opened({ close: () => dataSource.destroy() });
    await expectStandingTransactionEnds(dataSource, accountId);
  });

  test('a host’s transaction may stand still as long as the server permits', async () => {
    const { app, dataSource } = await startOnHosts();
    const seen = await dataSource.transaction(async (manager) => {
      await app.app.get(LedgerService, { strict: false }).topUp(app.accountId, 1, { host: { manager } });
      return manager.query('SHOW idle_in_transaction_session_timeout');
    });
    expect(seen).toEqual([{ idle_in_transaction_session_timeout: '0' }]);
  });

  test('if all connections are cut again and again, answers are 200 or 503, and the ledger is correct', async () => {
    const app = await start(1_000_000);
    const terminator = await BackendTerminator.start(url);
    const load = new CrashLoad(() => [app], app.key, { clients: 16 });
    const enough = () => terminator.cut > 50 && load.unanswered > 10 && load.answered.size > 200;
    await until(() => enough() || load.surprises.length > 0);
    await terminator.stop();
    await load.finish();
    expect(load.surprises).toEqual([]);
    const books = opened(await CrashBooks.open(url));
    await books.settled();
    expect(await books.problems(load.answered, 1_000_000, true)).toEqual([]);
  }, 300_000);

  test('kill -9 again and again under load: nothing is lost, charged or shown twice', async () => {
    const { answered, problems, states } = await crashLoop({ database: url }, 4);
    expect(problems).toEqual([]);
    expect(answered).toBeGreaterThan(20);
    expect(new Set(states.values())).toEqual(new Set(['delivered']));
  }, 300_000);
});
