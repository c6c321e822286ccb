import { describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import type { CoreGraphOptions } from '../../../src/core/core-options.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import {
  checkLedger,
  countMessages,
  expectExactlyTheBalance,
  expectOneSend,
  sendAtOnce,
} from '../../support/accounts/money-races.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { type Adapter, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { ask, balanceOf, type SmsAnswer, sendSms, tallyOf } from '../../support/http/sms-client.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { HesitantStorage } from '../../support/outbox/hesitant-storage.js';

const opened = closeAfterEach();

async function start(
  adapter: Adapter,
  storage: NonNullable<CoreGraphOptions['storage']>,
  units = 1000,
): Promise<MessagingApp> {
  return opened(await startMessaging(adapter, { storage }, { units }));
}

function accountsOf({ app }: MessagingApp): AccountService {
  return app.get(AccountService, { strict: false });
}

function ledgerOf({ app }: MessagingApp): LedgerService {
  return app.get(LedgerService, { strict: false });
}

function expectUnavailable({ status, headers, text }: SmsAnswer): void {
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  const error = { statusCode: 503, message: 'Service momentanément indisponible', error: 'Service Unavailable' };
  expect(JSON.parse(text)).toEqual(error);
}

describeOnOneAdapter('many sends at once on SQLite', (adapter) => {
  test('exactly 100 of 200 are sent on a balance for 100', async () => {
    const file = opened(new SqliteFile());
    await expectExactlyTheBalance([await start(adapter, file.storage(), 100)]);
  });

  test('the same holds over two instances on one file', async () => {
    const file = opened(new SqliteFile());
    const first = await start(adapter, file.storage(), 100);
    await expectExactlyTheBalance([first, await start(adapter, file.storage())]);
  });

  test('50 under one Idempotency-Key send once', async () => {
    const file = opened(new SqliteFile());
    await expectOneSend([await start(adapter, file.storage())]);
  });

  test('50 under one key over two instances on one file also send once', async () => {
    const file = opened(new SqliteFile());
    const first = await start(adapter, file.storage());
    await expectOneSend([first, await start(adapter, file.storage())]);
  });

  test('a key belongs to its body and its account, and only an accepted send uses it', async () => {
    const file = opened(new SqliteFile());
    const app = await start(adapter, file.storage(), 0);
    const order = { once: 'k', content: 'Un' };
    expect((await sendSms(app, order)).body.message).toBe('Solde SMS insuffisant');
    await ledgerOf(app).topUp(app.accountId, 5);
    const first = await sendSms(app, order);
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null]);

    const otherBody = await sendSms(app, { ...order, content: 'Deux' });
    expect([otherBody.status, otherBody.body.error]).toEqual([422, 'Unprocessable Entity']);
    expect(otherBody.body.message).toBe('Cette Idempotency-Key a déjà servi pour une autre requête');

    const { id } = await accountsOf(app).createAccount({ name: 'Autre' });
    await ledgerOf(app).topUp(id, 5);
    const other = { url: app.url, key: (await accountsOf(app).issueKey(id)).key };
    const theirs = await sendSms(other, order);
    expect([theirs.status, theirs.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(theirs.body.smsID).not.toBe(first.body.smsID);

    expect((await sendSms(app, order)).text).toBe(first.text);
    expect([await balanceOf(app), await balanceOf(other)]).toEqual([4, 4]);
    expect(await checkLedger([app])).toEqual([]);
  });
});

describe('the same races without our locks', () => {
  test('two instances on a storage without locks spend the balance twice', async () => {
    const storage = { useValue: new HesitantStorage() };
    const first = await start('express', storage, 100);
    const answers = await sendAtOnce([first, await start('express', storage)], 200);
    expect(tallyOf(answers)['200']).toBeGreaterThan(100);
    expect(await checkLedger([first])).not.toEqual([]);
  });

  test('two instances on a storage without locks send twice under one key', async () => {
    const storage = { useValue: new HesitantStorage() };
    const first = await start('express', storage);
    await sendAtOnce([first, await start('express', storage)], 50, 'the-key');
    expect(await countMessages(first)).toBe(2);
  });
});

describeOnOneAdapter('a database that does not accept our writes', (adapter) => {
  test('because another process holds it: 503 and no charge; reads go on, and so do sends when it is free', async () => {
    const file = opened(new SqliteFile());
    const clock = new FakeClock();
    const storage = { useValue: new TypeormStorage({ database: await file.dataSource(), clock }) };
    const app = await start(adapter, storage, 10);
    const thief = file.handle();
    const release = () => {
      if (thief.inTransaction) thief.exec('ROLLBACK');
      clock.advance(1);
    };
    opened({ close: release });
    thief.exec('BEGIN IMMEDIATE');
    let answered = false;
    const send = sendSms(app, { once: 'k' }).finally(() => {
      answered = true;
    });
    // The event loop stays free meanwhile, and reads do not wait for the writer.
    for (let look = 0; look < 20; look++) expect(await balanceOf(app)).toBe(10);
    clock.advance(4000);
    for (let look = 0; look < 5; look++) expect(await balanceOf(app)).toBe(10);
    expect(answered).toBe(false);
    clock.advance(1000);
    expectUnavailable(await send);
    release();
    expect(await countMessages(app)).toBe(0);
    const again = await sendSms(app, { once: 'k' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(await balanceOf(app)).toBe(9);
    expect(await checkLedger([app])).toEqual([]);
  });

  test('because it is held for a moment only: waiting sends succeed', async () => {
    const file = opened(new SqliteFile());
    const app = await start(adapter, file.storage(), 10);
    const thief = file.handle();
    thief.exec('BEGIN IMMEDIATE');
    const sends = Promise.all([sendSms(app), sendSms(app), sendSms(app)]);
    for (let look = 0; look < 5; look++) expect(await balanceOf(app)).toBe(10);
    thief.exec('COMMIT');
    expect(tallyOf(await sends)).toEqual({ '200': 3 });
    expect(await balanceOf(app)).toBe(7);
  });

  test('because it is full: 503 and no charge; sends go on when there is space', async () => {
    const file = opened(new SqliteFile());
    const dataSource = await file.dataSource();
    const app = await start(adapter, TypeormStorage.forRoot({ dataSource }), 100_000);
    const sizeOf = async (pragma: string) => Number((await dataSource.query(`PRAGMA ${pragma}`))[0][pragma]);
    const content = 'x'.repeat(10_000);
    const numbers = (length: number) => Array.from({ length }, (_, index) => `22670${100_000 + index}`);

    await dataSource.query(`PRAGMA max_page_count = ${(await sizeOf('page_count')) + 40}`);
    const answers = [];
    for (let count = 0; count < 30; count++) answers.push(await sendSms(app, { content, number: numbers(20) }));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) expectUnavailable(answer);
    const spent = answers.reduce((sum, { body }) => sum + Number(body.sms_units ?? 0), 0);
    expect(spent).toBeGreaterThan(0);
    expect(await balanceOf(app)).toBe(100_000 - spent);
    expect(await countMessages(app)).toBe(answers.length - refused.length);

    await dataSource.query('PRAGMA max_page_count = 1073741823');
    expect((await sendSms(app, { content, number: numbers(20) })).status).toBe(200);
    expect(await checkLedger([app])).toEqual([]);
  });
});

describeOnOneAdapter("a host's DataSource that waits 5 s for locks inside SQLite, TypeORM's default", (adapter) => {
  test('does not block the event loop with our writes', async () => {
    const file = opened(new SqliteFile());
    const dataSource = await file.dataSource();
    expect(dataSource).toBeInstanceOf(DataSource);
    const app = await start(adapter, TypeormStorage.forRoot({ dataSource }), 10);
    const thief = file.handle();
    thief.exec('BEGIN IMMEDIATE');
    const send = sendSms(app);
    // If BEGIN waited inside SQLite, nothing could be answered before the send, which would come first.
    const order: string[] = [];
    void send.then(() => order.push('send'));
    for (let look = 0; look < 20; look++) {
      expect((await ask(app, 'api/v1/balance')).status).toBe(200);
      order.push('balance');
    }
    thief.exec('ROLLBACK');
    expect((await send).status).toBe(200);
    expect(order).toEqual([...Array.from({ length: 20 }, () => 'balance'), 'send']);
    expect(await dataSource.query('PRAGMA busy_timeout')).toEqual([{ timeout: 5000 }]);
  });
});
