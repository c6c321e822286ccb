import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { MsgappService } from '../../../src/msgapp/msgapp-service.js';
import { SessionManager } from '../../../src/msgapp/sessions/session-manager.js';
import { OtpService } from '../../../src/otp/otp-service.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';

const suite = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;

suite('an account id that no database can store, given by a host', () => {
  let running: MessagingApp;
  let drop: () => Promise<unknown>;

  beforeAll(async () => {
    const database = await createPostgresDatabase();
    drop = () => database.drop();
    running = await startMessaging('fastify', {
      storage: TypeormStorage.forRoot({ url: database.url }),
      otp: { pepper: 'fixture ABCDEFGHIJ 0123456789 abcdef' },
      msgapp: { tariff: { text: 1, media: 2 }, credentialsKey: 'fixture abcdefghij 0123456789 ABCDEF' },
    });
  });
  afterAll(async () => {
    await running.close();
    await drop();
  });

  const calls: Readonly<Record<string, (app: MessagingApp['app'], id: string) => Promise<unknown>>> = {
    'a balance': (app, id) => app.get(LedgerService, { strict: false }).balance(id),
    'a top-up': (app, id) => app.get(LedgerService, { strict: false }).topUp(id, 1),
    entries: (app, id) => app.get(LedgerService, { strict: false }).entries(id),
    'a key': (app, id) => app.get(AccountService, { strict: false }).issueKey(id),
    keys: (app, id) => app.get(AccountService, { strict: false }).listKeys(id),
    'a signature': (app, id) => app.get(SignatureService, { strict: false }).register(id, 'SHOP'),
    'a decision': (app, id) => app.get(SignatureService, { strict: false }).verify(id, 'SHOP'),
    'a send': (app, id) =>
      app.get(SmsService, { strict: false }).send(id, { signature: 'INFOS', content: 'x', number: ['22670000000'] }),
    'an SMS': (app, id) => app.get(SmsService, { strict: false }).get(id, '0199'),
    'SMS of it': (app, id) => app.get(SmsService, { strict: false }).list(id),
    'a code': (app, id) => app.get(OtpService, { strict: false }).send(id, { service: 'Shop', number: '22670000000' }),
    'a try': (app, id) =>
      app.get(OtpService, { strict: false }).verify(id, { service: 'Shop', number: '22670000000', otp: '123456' }),
    'opt-outs': (app, id) => app.get(OptOutService, { strict: false }).list({ accountId: id, signature: 'INFOS' }),
    'an opt-out': (app, id) =>
      app.get(OptOutService, { strict: false }).add({ accountId: id, signature: 'INFOS' }, ['22670000000']),
    'a message': (app, id) => app.get(MsgappService, { strict: false }).sendText(id, { to: '22670000000', body: 'x' }),
    'a message under a key': (app, id) =>
      app
        .get(MsgappService, { strict: false })
        .sendText(id, { to: '22670000000', body: 'x' }, { once: { key: 'k', body: {} } }),
    'a file': (app, id) =>
      app.get(MsgappService, { strict: false }).sendMedia(id, { to: '22670000000', mediaUrl: 'http://127.0.0.1/x' }),
    'its state': (app, id) =>
      app.get(MsgappService, { strict: false }).message(id, '01990000-0000-7000-8000-000000000000'),
    'a link': (app, id) => app.get(SessionManager, { strict: false }).connect(id),
    sessions: (app, id) => app.get(SessionManager, { strict: false }).status(id),
  };

  test.each(Object.entries(calls))('belongs to no account: %s', async (_, call) => {
    for (const id of ['a\0b', '\ud800']) {
      await expect(call(running.app, id)).rejects.toMatchObject({ code: 'error.account_not_found' });
    }
  });

  test.each(['a\0b', '\ud800'])('is recognised as malformed: %j', async (id) => {
    expect(await running.app.get(AccountService, { strict: false }).findAccount(id)).toBeUndefined();
  });
});
