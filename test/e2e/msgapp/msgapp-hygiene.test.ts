import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { until } from '../../support/common/until.js';
import { EventReader } from '../../support/events/event-reader.js';
import { ApiClient } from '../../support/http/api-client.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { startService } from '../../support/mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { storedTexts } from '../../support/otp/code-leaks.js';

const SENDER = '22670000123';
const TO = '22671000321';
const TEXT = 'Rendez-vous au marché de Gounghin';

describeOnOneAdapter('the traces of a messaging-app channel', (adapter) => {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-msgapp-hygiene-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('are no code, token, key, text, address or whole number in the log, and no code, token or key in the database', async () => {
    const database = join(folder, 'messaging.db');
    const storage = new TypeormStorage({ database: `sqlite:${database}` });
    const log: string[] = [];
    const keep = (...said: unknown[]) => void log.push(said.map(String).join(' '));
    const logger = { log: keep, error: keep, warn: keep, debug: keep, verbose: keep, fatal: keep };
    const files = await FileServer.open();
    const service = await startMsgapp(
      (options, setup) => startService(adapter, options, { ...setup, options: { logger } }),
      { storage: { useValue: storage } },
    );
    const client = await msgappClient(service, 100);
    const { qr_url, qrToken, sessionID } = await client.connect();
    const events = await EventReader.open(qr_url);
    const { data } = await events.first('qr');
    const qr = String(data.qr);
    await client.scan(SENDER, qr);
    await events.end();
    const text = MsgappClient.idOf(await client.text({ to: TO, body: TEXT }));
    const url = `${files.url('/photo.png')}?secret=hunter2`;
    files.put('/photo.png?secret=hunter2', 'image/png', Buffer.from('89504e470d0a1a0a', 'hex'));
    const file = MsgappClient.idOf(await client.media({ to: TO, mediaUrl: url, caption: TEXT }));
    await client.settled(text, 'delivered');
    await client.settled(file, 'delivered');
    await client.media({ to: TO, mediaUrl: `${files.url('/none.png')}?secret=hunter2` });
    await client.media({ to: TO, mediaUrl: 'http://user:hunter2@10.0.0.1/' });
    await client.settled(MsgappClient.idOf(await client.text({ to: '22671990001', body: TEXT })), 'failed');
    await client.api.post('send/otp', { service: 'Boutique', number: TO, channel: 'msgapp' });
    await client.arrived(TO, 3);
    await client.logout(sessionID);
    await service.close();
    await files.close();

    const said = log.join('\n');
    expect(said).not.toBe('');
    const secrets = [qr, qrToken, MSGAPP.credentialsKey, client.api.key];
    for (const secret of [...secrets, TEXT, 'hunter2', SENDER, TO, '22671990001']) expect(said).not.toContain(secret);
    const stored = (await storedTexts({ type: 'better-sqlite3', database })).join('\n');
    expect(stored).toContain(TEXT);
    for (const secret of secrets) expect(stored).not.toContain(secret);
    expect(stored).not.toContain('hunter2');
  });

  test('show nothing readable of what a linked number needs, until it is logged out', async () => {
    const database = join(folder, 'credentials.db');
    const storage = new TypeormStorage({ database: `sqlite:${database}` });
    const service = await startMsgapp((options, setup) => startService(adapter, options, setup), {
      storage: { useValue: storage },
    });
    const client = await msgappClient(service, 100);
    const sessionID = await client.link(SENDER);
    const sealed = async () =>
      (await storedTexts({ type: 'better-sqlite3', database })).filter((text) => /^v1\.[\w-]{8}\./.test(text));
    expect(await sealed()).toHaveLength(1);
    await client.logout(sessionID);
    expect(await sealed()).toEqual([]);
    await service.close();
  });

  test('let a number survive a start with the wrong key, which is refused, and a change to a new key', async () => {
    const database = `sqlite:${join(folder, 'keys.db')}`;
    const start = (credentialsKey: string | readonly string[]) =>
      startMsgapp((options, setup) => startService(adapter, options, setup), {
        storage: { useValue: new TypeormStorage({ database }) },
        msgapp: { ...MSGAPP, credentialsKey },
      });
    const renewed = 'another key for credentials in tests, 9876543210';
    const first = await start(MSGAPP.credentialsKey);
    const client = await msgappClient(first, 100);
    const sessionID = await client.link(SENDER);
    await first.close();

    await expect(start(renewed)).rejects.toThrow(
      'Option msgapp.credentialsKey has no key that decrypts the credentials of the linked numbers of channel msgapp.',
    );

    const second = await start([renewed, ...[MSGAPP.credentialsKey].flat()]);
    const { accountId, key } = client.api;
    const again = new MsgappClient(new ApiClient(`${second.url}/api/v1`, accountId, key), second.url);
    const rows = await until(
      () => again.sessions(),
      (seen) => seen.some(({ status }) => status === 'connected'),
    );
    expect(rows).toMatchObject([{ sessionID, number: SENDER, status: 'connected' }]);
    await second.close();
  });
});
