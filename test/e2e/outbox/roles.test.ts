import { describe, expect, test } from '@jest/globals';
import { type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { SessionManager } from '../../../src/msgapp/sessions/session-manager.js';
import type { ProcessRole } from '../../../src/outbox/delivery/process-role.api.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { CrashBooks } from '../../support/crash/crash-books.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { phoneOf, sendSms } from '../../support/http/sms-client.js';
import { type MessagingApp, OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient } from '../../support/msgapp/msgapp-app.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

const opened = closeAfterEach();

/** The options of a process in this role, with a carrier of its own. */
function optionsOf(file: SqliteFile, role?: ProcessRole, sms = new RecordingTransport()) {
  return {
    ...OPTIONS,
    storage: file.storage(),
    ...(role && { role }),
    dispatch: { pollMs: 20 },
    sms: { ...OPTIONS.sms, transport: { useValue: sms } },
    msgapp: { ...MSGAPP, sessions: { leaseMs: 3000 } },
    otp: { pepper: PEPPER },
  };
}

describe('a role', () => {
  test.each<[role: ProcessRole | undefined, sms: number, msgapp: number]>([
    [undefined, 1, 1],
    ['all', 1, 1],
    ['api', 0, 0],
    ['worker', 1, 0],
    ['sessions', 0, 1],
  ])('%s starts the transports that it delivers over, and stops them', async (role, carriers, apps) => {
    const file = opened(new SqliteFile());
    const [sms, msgapp] = [new RecordingTransport(), new ScriptedTransport()];
    const options = { ...optionsOf(file, role, sms), msgapp: { ...MSGAPP, transport: { useValue: msgapp } } };
    const app = await startMessaging('express', options);
    expect([sms.started, msgapp.started]).toEqual([carriers, apps]);
    await app.close();
    expect([sms.stopped, msgapp.stopped]).toEqual([carriers, apps]);
  });

  test('delivers without HTTP', async () => {
    const file = opened(new SqliteFile());
    const sms = new RecordingTransport();
    const api: MessagingApp = opened(await startMessaging('express', optionsOf(file, 'api')));
    await sendSms(api, { number: [phoneOf(1)] });
    @Module({ imports: [MessagingModule.forRoot({ ...optionsOf(file, 'worker', sms), controllers: false })] })
    class Worker {}
    const worker: INestApplicationContext = await NestFactory.createApplicationContext(Worker, { logger: false });
    await until(() => sms.taken.length > 0);
    await worker.close();
    expect([sms.taken.map(({ number }) => number), sms.stopped]).toEqual([[phoneOf(1)], 1]);
  });
});

describeOnOneAdapter('processes of three roles on one database', (adapter) => {
  test('accept sends everywhere, and each delivers its own channels', async () => {
    const file = opened(new SqliteFile());
    const carriers = new Map<ProcessRole, RecordingTransport>();
    const services = new Map<ProcessRole, Service>();
    for (const role of ['api', 'worker', 'sessions'] as const) {
      const sms = new RecordingTransport();
      const options = optionsOf(file, role, sms);
      services.set(role, opened(await startService(adapter, options, { imports: [SandboxModule.forRoot()] })));
      carriers.set(role, sms);
    }
    const taken = () => [...carriers].map(([role, { taken: each }]) => [role, each.map(({ number }) => number).sort()]);
    const numbers = [...services].map(([, service], index) => ({ service, number: phoneOf(index) }));
    for (const { service, number } of numbers) {
      await (await service.client()).sent({ signature: 'INFOS', content: 'Bonjour', number: [number] });
    }
    const all = numbers.map(({ number }) => number);
    await until(() => carriers.get('worker')?.taken.length === 3);
    expect(taken()).toEqual([
      ['api', []],
      ['worker', all],
      ['sessions', []],
    ]);

    const books = opened(await CrashBooks.open(`sqlite:${file.path}`));
    const delivered = async () =>
      (
        await books.query(
          "SELECT message_id FROM messaging_recipient WHERE channel = 'msgapp' AND status = 'delivered'",
        )
      ).length;
    for (const [index, service] of [...services.values()].entries()) {
      const client = await msgappClient(service);
      await client.link(phoneOf(100 + index));
      await until(
        () => client.sessions(),
        ([session]) => session?.status === 'connected',
      );
      // A message leaves from the process that holds the sessions, whichever process linked the number.
      MsgappClient.idOf(
        await until(
          () => client.text({ to: phoneOf(200), body: 'Bonjour' }),
          ({ status }) => status === 200,
        ),
      );
      await until(async () => (await delivered()) === index + 1);
    }
    const owners = await books.query('SELECT DISTINCT owner FROM messaging_session');
    expect(owners).toHaveLength(1);
    expect(
      [...services].map(([role, { app }]) => [role, app.get(SessionManager, { strict: false }).sessions.length]),
    ).toEqual([
      ['api', 0],
      ['worker', 0],
      ['sessions', 3],
    ]);
  });
});
