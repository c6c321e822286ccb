import { describe, expect, test } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import type { CoreGraphOptions } from '../../../src/core/core-options.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { MsgappService } from '../../../src/msgapp/msgapp-service.js';
import { OtpService } from '../../../src/otp/otp-service.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { checkLedger } from '../../support/accounts/money-races.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { NaiveSqliteStorage } from '../../support/databases/naive-database.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { type Adapter, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { balanceOf, phoneOf, sendSms } from '../../support/http/sms-client.js';
import { BusyHost } from '../../support/mounting/busy-host.js';
import { type AppOnHosts, testHostJoins } from '../../support/mounting/host-joins.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { type StartService, startService } from '../../support/mounting/services.js';
import { msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const opened = closeAfterEach();

const CLIENTS = 32;
const SENDS_EACH = 12;
const UNITS = 1000;

interface Outcome {
  readonly app: MessagingApp;
  readonly host: BusyHost;
  /** The smsIDs of the sends that were answered 200. */
  readonly answered: readonly string[];
  readonly refused: number;
  /** The ones among them that are not stored. */
  readonly lost: readonly string[];
}

/** 32 clients send while a host on the same DataSource opens, commits and rolls back its own transactions. */
async function sendBesideBusyHost(
  adapter: Adapter,
  dataSource: DataSource,
  storage: NonNullable<CoreGraphOptions['storage']>,
): Promise<Outcome> {
  // Delivery is left out: it would be one more writer, and the naive storage has trouble enough.
  const app = opened(await startMessaging(adapter, { storage, role: 'api' }, { units: UNITS }));
  const host = await BusyHost.start(dataSource);
  const answered: string[] = [];
  let refused = 0;
  const client = async (index: number) => {
    for (let count = 0; count < SENDS_EACH; count++) {
      const { status, body } = await sendSms(app, { number: [phoneOf(index * 100 + count)] });
      if (status === 200) answered.push(String(body.smsID));
      else refused++;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  await until(() => Math.min(host.committed.length, host.rolledBack.length) > 3 || host.failures > 0);
  await host.stop();
  const store = app.app.get(OutboxStore, { strict: false });
  const found = await Promise.all(answered.map((id) => store.find(app.accountId, 'sms', id)));
  return { app, host, answered, refused, lost: answered.filter((_, index) => found[index] === undefined) };
}

describeOnOneAdapter('32 clients beside a host with transactions on the same SQLite DataSource', (adapter) => {
  test('lose nothing that was answered, on either side', async () => {
    const dataSource = await opened(new SqliteFile()).dataSource();
    const { app, host, answered, refused, lost } = await sendBesideBusyHost(
      adapter,
      dataSource,
      TypeormStorage.forRoot({ dataSource }),
    );
    expect([answered.length, refused, lost]).toEqual([CLIENTS * SENDS_EACH, 0, []]);
    expect(await balanceOf(app)).toBe(UNITS - CLIENTS * SENDS_EACH);
    expect(host.failures).toBe(0);
    expect(Math.min(host.committed.length, host.rolledBack.length)).toBeGreaterThan(3);
    expect(await host.rows()).toEqual(host.committed);
    expect(await checkLedger([app])).toEqual([]);
  });
});

describe('the same with TypeORM’s own transactions', () => {
  test('loses answered sends', async () => {
    const dataSource = await opened(new SqliteFile()).dataSource();
    const storage = { useValue: new NaiveSqliteStorage(dataSource) };
    const { lost } = await sendBesideBusyHost('express', dataSource, storage);
    expect(lost.length).toBeGreaterThan(0);
  });
});

describeOnOneAdapter('a send in the host’s transaction on SQLite', (adapter) => {
  async function start(): Promise<AppOnHosts> {
    const dataSource = await opened(new SqliteFile()).dataSource();
    const options = { storage: TypeormStorage.forRoot({ dataSource }), dispatch: { pollMs: 60_000 } };
    return { app: opened(await startMessaging(adapter, options, { units: 10 })), dataSource };
  }

  testHostJoins(start);
});

describeOnOneAdapter('app messages and codes in the host’s transaction on SQLite', (adapter) => {
  test('look up their number and keep their file in it, and are committed or rolled back with it', async () => {
    const dataSource = await opened(new SqliteFile()).dataSource();
    const start: StartService = (options, setup) =>
      startService(adapter, { ...options, storage: TypeormStorage.forRoot({ dataSource }) }, setup);
    const service = opened(await startMsgapp(start));
    const client = await msgappClient(service, 10);
    await client.link('22670000200');
    const { accountId } = client.api;
    const msgapp = service.app.get(MsgappService, { strict: false });
    const otp = service.app.get(OtpService, { strict: false });
    const mediaUrl = `${service.url}/sandbox/media/photo.jpg`;
    const to = '22670000001';
    const sendAll = async (manager: EntityManager) => {
      const options = { host: { manager } };
      const { messageID } = await msgapp.sendText(accountId, { to, body: 'Bonjour' }, options);
      const media = await msgapp.sendMedia(accountId, { to, mediaUrl }, { ...options, once: { key: 'k', body: 'b' } });
      await otp.send(accountId, { service: 's', number: to, channel: 'msgapp' }, options);
      return [messageID, media.messageID];
    };
    const files = () => dataSource.query('SELECT count(*) AS kept FROM messaging_media');

    await expect(
      dataSource.transaction(async (manager) => {
        await sendAll(manager);
        throw new Error('the host changes its mind');
      }),
    ).rejects.toThrow('the host changes its mind');
    expect([await client.api.balance(), await files(), await client.phone(to)]).toEqual([10, [{ kept: 0 }], []]);

    const sent = await dataSource.transaction(sendAll);
    for (const id of sent) expect((await client.settled(id, 'delivered')).status).toBe('delivered');
    expect(await client.api.balance()).toBe(6);
    expect(await checkLedger([service])).toEqual([]);
  });

  test('an answer looks up the message that it quotes in it', async () => {
    const dataSource = await opened(new SqliteFile()).dataSource();
    const start: StartService = (options, setup) =>
      startService(adapter, { ...options, storage: TypeormStorage.forRoot({ dataSource }) }, setup);
    const service = opened(await startMsgapp(start));
    const client = await msgappClient(service, 10);
    await client.link('22670000200');
    const received: string[] = [];
    service.app
      .get(MessagingEvents, { strict: false })
      .on('msgapp.received', ({ data }) => void received.push(data.id));
    const phone = '22670000001';
    const body = { channel: 'msgapp', to: '22670000200', text: 'Où est mon colis ?' };
    await call(`${service.url}/sandbox/phones/${phone}/messages`, { method: 'POST', body });
    const msgapp = service.app.get(MsgappService, { strict: false });
    const answer = { reply_to: received[0], body: 'En route' };
    const { messageID } = await dataSource.transaction((manager) =>
      msgapp.sendText(client.api.accountId, answer, { host: { manager } }),
    );
    expect(await client.settled(messageID, 'delivered')).toMatchObject({ to: phone, reply_to: received[0] });
  });
});
