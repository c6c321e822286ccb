import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DataSource, type EntityManager } from 'typeorm';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import type { OtpOptions } from '../../../src/otp/otp-options.js';
import { OtpService } from '../../../src/otp/otp-service.js';
import { RecordKeys } from '../../../src/otp/record-keys.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { range } from '../../contract/storage/fixtures.js';
import { checkLedger } from '../../support/accounts/money-races.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { HeldRow, LOCKING_SERVERS, type LockingServer } from '../../support/databases/held-row.js';
import { hasServer } from '../../support/databases/servers.js';
import { ask, balanceOf, phoneOf, type SmsTarget, sendSms, tallyOf } from '../../support/http/sms-client.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { codeIn, PEPPER, wrongFor } from '../../support/otp/otp-app.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

const CROWD = 300;
/** Connections of the pool that may wait for records: a quarter of ten. */
const SHARE = 2;
const [NUMBER, OTHER] = [phoneOf(1), phoneOf(2)];
const SERVICE = 'Boutique';

const opened = closeAfterEach();

/** A service on a pool of ten connections, and a second account. */
class Fixture {
  private constructor(
    readonly app: MessagingApp,
    readonly dataSource: DataSource,
    readonly other: SmsTarget & { readonly id: string },
  ) {}

  static async start(type: LockingServer['type'], url: string, otp: Partial<OtpOptions> = {}): Promise<Fixture> {
    const dataSource = await new DataSource({ type, url }).initialize();
    opened({ close: () => dataSource.destroy() });
    const options = { storage: TypeormStorage.forRoot({ dataSource }), otp: { pepper: PEPPER, ...otp } };
    const app = opened(await startMessaging('fastify', options));
    const accounts = app.app.get(AccountService, { strict: false });
    const { id } = await accounts.createAccount({ name: 'Autre' });
    await app.app.get(LedgerService, { strict: false }).topUp(id, 1000);
    return new Fixture(app, dataSource, { url: app.url, key: (await accounts.issueKey(id)).key, id });
  }

  send(target: SmsTarget, number: string) {
    return ask(target, 'api/v1/send/otp', { service: SERVICE, number });
  }

  verify(target: SmsTarget, number: string, otp: string) {
    return ask(target, 'api/v1/verify/otp', { service: SERVICE, number, otp });
  }

  /** Sends a code and reads it on the phone. */
  async codeFor(target: SmsTarget, number: string): Promise<string> {
    expect((await this.send(target, number)).status).toBe(200);
    const phones = this.app.app.get(PhoneStore, { strict: false });
    const [message] = await until(
      () => phones.messages(number),
      (messages) => messages.length > 0,
    );
    return codeIn(message?.text ?? '');
  }

  /** A transaction of the host's that sends a code and stays open until it is told to end. */
  async holdBySending(accountId: string, number: string): Promise<() => Promise<void>> {
    const otp = this.app.app.get(OtpService, { strict: false });
    const [sent, end] = [new Gate(), new Gate()];
    const transaction = this.dataSource.transaction(async (manager: EntityManager) => {
      await otp.send(accountId, { service: SERVICE, number }, { host: { manager } });
      sent.open();
      await end.opened;
    });
    await Promise.race([sent.opened, transaction]);
    const commit = () => {
      end.open();
      return transaction;
    };
    opened({ close: commit });
    return commit;
  }
}

for (const [name, server] of Object.entries(LOCKING_SERVERS)) {
  const suite = (await hasServer(name, server.port)) ? describe : describe.skip;
  suite(`${name}: records that another transaction holds`, () => {
    let url = '';
    const drops: (() => Promise<void>)[] = [];

    beforeEach(async () => {
      const database = await server.create();
      url = database.url;
      drops.push(database.drop);
    });

    afterAll(async () => {
      for (const drop of drops) await drop();
    });

    const holdChallenge = async (accountId: string, number = NUMBER) => {
      const { challenge } = new RecordKeys({ accountId, service: SERVICE, number });
      return opened(await HeldRow.hold(server, url, 'messaging_policy', challenge));
    };

    test(`${CROWD} checks of a held number wait on ${SHARE} connections at most; others are served; one succeeds`, async () => {
      const world = await Fixture.start(server.type, url);
      const { app, other } = world;
      const code = await world.codeFor(app, NUMBER);
      const otherCode = await world.codeFor(other, OTHER);
      const held = await holdChallenge(app.accountId);
      let answered = 0;
      const crowd = Promise.all(range(CROWD).map(() => world.verify(app, NUMBER, code).finally(() => answered++)));
      crowd.catch(() => undefined);
      await held.awaited();
      // All at once, because a wait for the record ends after 5 s.
      const [waiting, balances, verified, sent] = await Promise.all([
        Promise.all(range(10).map(() => held.waiting())),
        Promise.all(range(10).map(() => balanceOf(other))),
        world.verify(other, OTHER, otherCode),
        sendSms(other),
      ]);
      expect([balances.length, verified.status, sent.status, answered]).toEqual([10, 200, 200, 0]);
      const most = Math.max(...waiting, await held.waiting());
      await held.release();
      expect(tallyOf(await crowd)).toEqual({
        '200': 1,
        '400 Code de vérification déjà vérifié': CROWD - 1,
      });
      console.info(`${name}: ${CROWD} verifies of a held record waited on ${most} connection(s)`);
      expect(most).toBeLessThanOrEqual(SHARE);
    });

    test('a code that is dead, expired, unknown or verified needs no lock: it is answered while its record is held', async () => {
      const world = await Fixture.start(server.type, url);
      const { app } = world;
      const code = await world.codeFor(app, NUMBER);
      const verified = await world.codeFor(app, OTHER);
      expect((await world.verify(app, OTHER, verified)).status).toBe(200);
      const wrong = await Promise.all(Array.from({ length: 200 }, () => world.verify(app, NUMBER, wrongFor(code))));
      expect(tallyOf(wrong)).toEqual({ '400 Code de vérification invalide': 200 });
      const [held, alsoHeld] = [await holdChallenge(app.accountId), await holdChallenge(app.accountId, OTHER)];
      const dead = await Promise.all(Array.from({ length: CROWD }, () => world.verify(app, NUMBER, code)));
      expect(tallyOf(dead)).toEqual({ '400 Code de vérification invalide': CROWD });
      expect((await world.verify(app, OTHER, verified)).body.message).toBe('Code de vérification déjà vérifié');
      expect((await world.verify(app, OTHER, wrongFor(verified))).status).toBe(404);
      expect((await world.verify(app, phoneOf(3), code)).status).toBe(404);
      expect([await held.waiting(), await alsoHeld.waiting()]).toEqual([0, 0]);
    });

    test('a record that is held for too long: 503, and nothing is counted', async () => {
      const world = await Fixture.start(server.type, url);
      const { app } = world;
      const code = await world.codeFor(app, NUMBER);
      const held = await holdChallenge(app.accountId);
      const refused = await Promise.all([1, 2, 3].map((step) => world.verify(app, NUMBER, wrongFor(code, step))));
      expect(tallyOf(refused)).toEqual({ '503 Service momentanément indisponible': 3 });
      await held.release();
      expect((await world.verify(app, NUMBER, code)).status).toBe(200);
    });

    // The record that all accounts share is new in one case, in which no other transaction can see it, and exists in
    // the other.
    test.each(['new', 'known'])(
      'a code of an open host transaction under strict limits delays only sends to its own number: %s to all',
      async (number) => {
        const world = await Fixture.start(server.type, url, { limits: { preset: 'strict', cooldownSeconds: 0 } });
        const { app, other } = world;
        if (number === 'known') await world.codeFor(app, NUMBER);
        const before = Number(await balanceOf(other));
        const end = await world.holdBySending(app.accountId, NUMBER);
        let answered = false;
        const same = world.send(other, NUMBER).finally(() => {
          answered = true;
        });
        // Others of the very account that waits for the record, too.
        const sms = await Promise.all(Array.from({ length: 50 }, () => sendSms(other)));
        const codes = await Promise.all(
          Array.from({ length: 5 }, (_, index) => world.send(other, `2265000${index}000`)),
        );
        expect([tallyOf(sms), tallyOf(codes), answered]).toEqual([{ '200': 50 }, { '200': 5 }, false]);
        await end();
        expect([(await same).status, await balanceOf(other)]).toEqual([200, before - 56]);
        expect(await checkLedger([app])).toEqual([]);
      },
    );

    test('a number that a host transaction holds for too long: sends to it are answered 503, and nothing is charged', async () => {
      const world = await Fixture.start(server.type, url, { limits: 'strict' });
      const { app, other } = world;
      const end = await world.holdBySending(app.accountId, NUMBER);
      expect(tallyOf([await world.send(other, NUMBER)])).toEqual({ '503 Service momentanément indisponible': 1 });
      await end();
      expect([(await world.send(other, NUMBER)).status, await balanceOf(other)]).toEqual([200, 999]);
    });
  });
}
