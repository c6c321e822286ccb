import { setImmediate as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { OtpService } from '../../../src/otp/otp-service.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { OtpApp, PEPPER } from '../../support/otp/otp-app.js';

const NUMBER = '22670000001';

describeOnOneAdapter('OTP over time', (adapter) => {
  let app: OtpApp;
  afterEach(() => app.close());

  test('old codes are purged automatically', async () => {
    app = await OtpApp.start(adapter);
    for (let index = 0; index < 1200; index++) {
      await app.app.app
        .get(OtpService, { strict: false })
        .send(app.app.accountId, { service: `s${index}`, number: NUMBER })
        .catch(() => undefined);
    }
    const guards = app.app.app.get(PolicyStore, { strict: false });
    app.clock.advance(25 * 3_600_000);
    // Two rounds: the first one started the timer of the second one.
    for (let turn = 0; turn < 100; turn++) {
      if (turn === 50) app.clock.advance(600_000);
      await pause();
    }
    expect(await guards.purge(app.clock.now(), 9999)).toBe(0);
    expect(await guards.purge(Number.MAX_SAFE_INTEGER, 9999)).toBe(0);
  });

  test('a code whose pepper is gone is no longer known, and its message fails and is refunded', async () => {
    const storage = new SqliteMemory();
    const old = { version: 'old', secret: `${PEPPER} old` };
    const fresh = { version: 'new', secret: `${PEPPER} new` };
    app = await OtpApp.start(adapter, {
      storage,
      otp: { pepper: [old] },
      messaging: { role: 'api' },
    });
    const { accountId } = app.app;
    expect((await app.send({ service: 's', number: NUMBER })).status).toBe(200);
    expect(await app.balance()).toMatchObject({ balance: 999 });
    await app.close();
    app = await OtpApp.start(adapter, { storage, otp: { pepper: [fresh] } });
    const service = app.app.app.get(OtpService, { strict: false });
    for (let turn = 0; turn < 200 && (await storage.store(LedgerStore).balance(accountId)) !== 1000; turn++) {
      app.clock.advance(5);
      await pause();
    }
    expect(await storage.store(LedgerStore).balance(accountId)).toBe(1000);
    expect(await service.verify(accountId, { service: 's', number: NUMBER, otp: '1234' })).toEqual({
      kind: 'not_found',
    });
  });

  test('after a rotation a code of the old pepper still works', async () => {
    const storage = new SqliteMemory();
    const old = { version: 'old', secret: `${PEPPER} old` };
    const fresh = { version: 'new', secret: `${PEPPER} new` };
    app = await OtpApp.start(adapter, { storage, otp: { pepper: [old] } });
    const { accountId } = app.app;
    const otp = await app.codeFor(NUMBER, 's');
    await app.close();
    app = await OtpApp.start(adapter, { storage, otp: { pepper: [fresh, old] } });
    const service = app.app.app.get(OtpService, { strict: false });
    expect(await service.verify(accountId, { service: 's', number: NUMBER, otp })).toEqual({ kind: 'verified' });
  });

  test('a send in the host’s transaction is committed or rolled back with it', async () => {
    const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    app = await OtpApp.start(adapter, { storage: new TypeormStorage({ database: dataSource }) });
    const service = app.app.app.get(OtpService, { strict: false });
    const { accountId } = app.app;
    const otp = { service: 's', number: NUMBER };
    const undone = dataSource.transaction(async (manager) => {
      await service.send(accountId, otp, { host: { manager } });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await service.verify(accountId, { ...otp, otp: '0000' })).toEqual({ kind: 'not_found' });
    await dataSource.transaction((manager) => service.send(accountId, otp, { host: { manager } }));
    expect((await service.verify(accountId, { ...otp, otp: '0000' })).kind).toMatch(/^(wrong|verified)$/);
    expect(await app.balance()).toMatchObject({ balance: 999 });
    await dataSource.destroy();
  });
});
