import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { AddressStore } from '../../../src/msgapp/address-store.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { sandboxMedia } from '../../../src/sandbox/sandbox-media.js';
import { PNG } from '../../support/common/png.js';
import { until } from '../../support/common/until.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { EventReader } from '../../support/events/event-reader.js';
import { ApiClient } from '../../support/http/api-client.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeService, type Service, startService } from '../../support/mounting/services.js';
import { MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { mend } from '../../support/transports/whatsapp/faults.js';
import type { Phone } from '../../support/transports/whatsapp/phone.js';
import { WhatsappPeer } from '../../support/transports/whatsapp/whatsapp-peer.js';
import { linkPhone, overBaileys } from '../../support/transports/whatsapp/whatsapp-service.js';

let peer: WhatsappPeer;
let files: FileServer;
let numbers = 22_670_000_000;

/** A phone that no other test knows. */
const newPhone = (): Phone => peer.phone(String(++numbers));

beforeAll(async () => {
  peer = await WhatsappPeer.start();
  files = await FileServer.open();
});

afterEach(() => mend(peer.faults));

afterAll(async () => {
  await files.close();
  await peer.stop();
  expect(peer.complaints).toEqual([]);
});

/** The only session of an account, as soon as it has that status. */
function session(client: MsgappClient, wanted: string) {
  return until(
    async () => (await client.sessions())[0],
    (row) => row?.status === wanted,
  );
}

describeService('the channel over Baileys', (start) => {
  let service: Service;
  let client: MsgappClient;
  let owner: Phone;
  let sessionId: string;

  beforeAll(async () => {
    service = await startMsgapp(start, overBaileys(peer));
    client = await msgappClient(service);
    owner = newPhone();
    sessionId = await linkPhone(client, owner);
  });

  const send = async (to: Phone, body: string) => MsgappClient.idOf(await client.text({ to: to.number, body }));

  test('links two numbers at once and sends from the one that is named', async () => {
    const both = await msgappClient(service);
    const [one, two, friend] = [newPhone(), newPhone(), newPhone()];
    await Promise.all([linkPhone(both, one), linkPhone(both, two)]);
    for (const from of [two, one]) {
      const id = MsgappClient.idOf(await both.text({ to: friend.number, body: 'Bonjour', from: from.number }));
      await both.settled(id, 'delivered');
    }
    expect(friend.inbox.map(({ text, sender }) => [text, sender.phone.number])).toEqual([
      ['Bonjour', two.number],
      ['Bonjour', one.number],
    ]);
  });

  test('brings a text to the phone, and its receipts back', async () => {
    const friend = newPhone();
    const id = await send(friend, 'Ça va ? 👋');
    await client.settled(id, 'delivered');
    const [received] = friend.inbox;
    expect(received).toMatchObject({ text: 'Ça va ? 👋', sender: { phone: { number: owner.number } } });
    if (received) friend.read(received);
    expect(await client.settled(id, 'read')).toMatchObject({ error: null, units: 1, refunded_units: 0 });
  });

  test.each([
    ['image', '/photo.png', 'image/png', PNG],
    [
      'video',
      '/film.mp4',
      'video/mp4',
      Buffer.concat([Buffer.from('00000018667479706d703432', 'hex'), randomBytes(90_000)]),
    ],
    ['document', '/facture.pdf', 'application/pdf', Buffer.from('%PDF-1.4\n1 0 obj\nendobj\n%%EOF\n')],
    ['audio', '/voix.mp3', 'audio/mpeg', Buffer.concat([Buffer.from('ID3\u0003\0\0\0\0\0\0'), randomBytes(5000)])],
  ])('brings a file of kind %s to the phone, byte for byte', async (kind, path, type, bytes) => {
    files.put(path, type, bytes);
    const friend = newPhone();
    const mediaUrl = files.url(path);
    const answer = await client.media({ to: friend.number, mediaUrl, mediaType: kind, caption: 'Voilà' });
    await client.settled(MsgappClient.idOf(answer), 'delivered');
    const [received] = friend.inbox;
    if (!received) throw new Error('Nothing came.');
    const file = await friend.media(received);
    expect(file).toMatchObject({ kind, caption: kind === 'audio' ? undefined : 'Voilà' });
    expect(createHash('sha256').update(file.bytes).digest()).toEqual(createHash('sha256').update(bytes).digest());
  });

  test('brings a voice note to the phone, with its length', async () => {
    const bytes = Buffer.from(sandboxMedia('voice.ogg')?.bytes ?? []);
    files.put('/voix.ogg', 'application/ogg', bytes);
    const friend = newPhone();
    const answer = await client.media({ to: friend.number, mediaUrl: files.url('/voix.ogg'), mediaType: 'voice' });
    const id = MsgappClient.idOf(answer);
    expect(await client.settled(id, 'delivered')).toMatchObject({ media: { type: 'voice' }, units: 2 });
    const [received] = friend.inbox;
    expect(received?.content.audioMessage).toMatchObject({ ptt: true, mimetype: 'audio/ogg; codecs=opus' });
    expect(received?.content.audioMessage?.seconds).toBeGreaterThan(0);
    if (received) expect((await friend.media(received)).bytes.equals(bytes)).toBe(true);
  });

  test.each([
    ['image', '/photo.png', 'text/html', Buffer.from('<!DOCTYPE html><title>Connexion</title>')],
    ['video', '/photo.mp4', 'video/mp4', PNG],
    ['voice', '/voix.mp3', 'audio/ogg', Buffer.concat([Buffer.from('ID3\u0003\0\0\0\0\0\0'), randomBytes(5000)])],
  ])(
    'refuses a file that is called %s but is not one, before it costs anything',
    async (mediaType, path, type, bytes) => {
      files.put(path, type, bytes);
      const [friend, before] = [newPhone(), await client.api.balance()];
      const answer = await client.media({ to: friend.number, mediaUrl: files.url(path), mediaType });
      expect([answer.status, answer.body]).toMatchObject([400, { message: "Le média n'a pas pu être récupéré" }]);
      expect([await client.api.balance(), friend.inbox]).toEqual([before, []]);
    },
  );

  test('sends a picture that phones do not show as a document', async () => {
    files.put('/photo.gif', 'image/gif', Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1'));
    const friend = newPhone();
    const mediaUrl = files.url('/photo.gif');
    const answer = await client.media({ to: friend.number, mediaUrl, mediaType: 'image', caption: 'Voilà' });
    await client.settled(MsgappClient.idOf(answer), 'delivered');
    const [received] = friend.inbox;
    if (!received) throw new Error('Nothing came.');
    expect(await friend.media(received)).toMatchObject({
      kind: 'document',
      mimetype: 'image/gif',
      fileName: 'photo.gif',
    });
  });

  test('delivers a code, which can be verified', async () => {
    const friend = newPhone();
    const asked = await client.api.post('send/otp', { service: 'Banque', number: friend.number, channel: 'msgapp' });
    expect(asked.status).toBe(200);
    const text = await until(() => friend.inbox[0]?.text);
    const otp = /\d{4}/.exec(text ?? '')?.[0];
    const checked = await client.api.post('verify/otp', { otp, number: friend.number, service: 'Banque' });
    expect([checked.status, checked.body]).toMatchObject([200, { success: true }]);
  });

  test('refunds a message that the server refuses or that has no recipient', async () => {
    const before = await client.api.balance();
    peer.faults.ackError = 479;
    const refused = await client.settled(await send(newPhone(), 'Non'), 'failed');
    expect(refused).toMatchObject({ error: 'ack_error_479', refunded_units: 1 });
    mend(peer.faults);
    const lost = MsgappClient.idOf(await client.text({ to: '22679999999', body: 'Personne' }));
    expect(await client.settled(lost, 'failed')).toMatchObject({ error: 'not_on_channel', refunded_units: 1 });
    expect(await client.api.balance()).toBe(before);
  });

  test.each([
    ['551187654321', '5511987654321', 'a mobile in Brazil, with the ninth digit or without it'],
    ['5215512345678', '525512345678', 'a mobile in Mexico, with the old 1 or without it'],
    ['5491123456789', '541123456789', 'a mobile in Argentina, with the 9 or without it'],
  ])('the app knows %s, and all numbers of all accounts reach %s: %s', async (known, spelled) => {
    const friend = peer.phone(known);
    peer.alias(spelled, friend);
    const [both, other] = [await msgappClient(service), await msgappClient(service)];
    const [one, two, theirs] = [newPhone(), newPhone(), newPhone()];
    await Promise.all([linkPhone(both, one), linkPhone(both, two), linkPhone(other, theirs)]);
    const reach = async (by: MsgappClient, from: Phone, body: string) => {
      const id = MsgappClient.idOf(await by.text({ to: spelled, body, from: from.number }));
      expect(await by.settled(id, 'delivered')).toMatchObject({ to: spelled, units: 1, refunded_units: 0 });
    };
    await reach(both, one, 'Un');
    await reach(both, two, 'Deux');
    await reach(other, theirs, 'Trois');
    // A number that is linked again is a new session.
    one.unlink();
    await until(async () => (await both.sessions()).some(({ status }) => status === 'logged_out'));
    await linkPhone(both, one);
    await reach(both, one, 'Quatre');
    expect(friend.inbox.map(({ text }) => text)).toEqual(['Un', 'Deux', 'Trois', 'Quatre']);
  });

  test('reaches a person whose number the app hides, and repeats a message for them', async () => {
    const friend = newPhone();
    friend.hidesNumber = true;
    await client.settled(await send(friend, 'Qui ?'), 'delivered');
    const [received] = friend.inbox;
    if (received) friend.askAgain(received);
    await until(() => friend.inbox.length === 2);
    expect(friend.inbox.map(({ text }) => text)).toEqual(['Qui ?', 'Qui ?']);
  });

  test('looks a person up again if the address turns out to be wrong', async () => {
    const friend = newPhone();
    // Any other number, because one of the home market would need its exact length.
    const spelled = `336${friend.number.slice(-8)}`;
    const addresses = service.app.get(AddressStore);
    // The address from before the person changed the number.
    const old = { address: '22679999998@s.whatsapp.net', learnedAt: Date.now() };
    await addresses.remember({ app: 'baileys', number: spelled }, old);
    peer.alias(spelled, friend);
    const id = MsgappClient.idOf(await client.text({ to: spelled, body: 'Encore là ?' }));
    await client.settled(id, 'delivered');
    expect(friend.inbox.map(({ text }) => text)).toEqual(['Encore là ?']);
    const now = await addresses.find({ app: 'baileys', number: spelled });
    expect(now?.address).toBe(friend.jid);
  });

  test('leaves a message unknown that nobody acknowledged, until a receipt comes', async () => {
    const friend = newPhone();
    peer.faults.dropAck = true;
    peer.faults.receipts = false;
    const before = await client.api.balance();
    const id = await send(friend, 'Peut-être');
    expect(await client.settled(id, 'unknown')).toMatchObject({ error: 'no_ack', refunded_units: 0 });
    expect(await client.api.balance()).toBe(before - 1);
    expect(friend.inbox).toHaveLength(1);
    const [received] = friend.inbox;
    if (received) friend.read(received);
    await client.settled(id, 'read');
    expect(friend.inbox).toHaveLength(1);
  });

  test('reconnects automatically if the connection breaks or is refused', async () => {
    const made = peer.connectionsMade;
    peer.faults.upgradeStatus = 503;
    peer.connectionsOf(owner.number)[0]?.cut();
    await session(client, 'reconnecting');
    await until(() => peer.connectionsMade > made);
    const friend = newPhone();
    const refused = await client.text({ to: friend.number, body: 'x' });
    const says = `Le numéro ${owner.number} se reconnecte, réessayez dans un instant`;
    const code = { service: 'Banque', number: friend.number, channel: 'msgapp' };
    const named = await client.text({ to: friend.number, body: 'x', from: owner.number });
    const mediaUrl = 'http://127.0.0.1:9/never-fetched.png';
    const file = await client.media({ to: friend.number, mediaUrl });
    for (const each of [refused, named, file, await client.api.post('send/otp', code)]) {
      expect([each.status, each.body]).toEqual([409, { statusCode: 409, message: says, error: 'Conflict' }]);
      expect([each.headers.get('x-error-code'), each.headers.get('retry-after')]).toEqual(['number_reconnecting', '5']);
    }
    mend(peer.faults);
    expect(await session(client, 'connected')).toMatchObject({ sessionID: sessionId, number: owner.number });
    expect(peer.connectionsMade - made).toBeLessThan(5);
    await client.settled(await send(friend, 'De retour'), 'delivered');
  });

  test('writes to no new people after 463, and says so', async () => {
    const own = await msgappClient(service);
    const [phone, known] = [newPhone(), newPhone()];
    await linkPhone(own, phone);
    await own.settled(MsgappClient.idOf(await own.text({ to: known.number, body: 'Un' })), 'delivered');
    const restricted: string[] = [];
    service.app.get(MessagingEvents).on('session.restricted', ({ data }) => restricted.push(data.reason));
    peer.faults.ackError = 463;
    const first = MsgappClient.idOf(await own.text({ to: newPhone().number, body: 'x' }));
    expect(await own.settled(first, 'failed')).toMatchObject({ error: 'ack_error_463' });
    mend(peer.faults);
    const second = MsgappClient.idOf(await own.text({ to: newPhone().number, body: 'x' }));
    expect(await own.settled(second, 'failed')).toMatchObject({ error: 'restricted', refunded_units: 1 });
    await own.settled(MsgappClient.idOf(await own.text({ to: known.number, body: 'Deux' })), 'delivered');
    expect(restricted).toEqual(['463']);
  });

  test('forgets a number that is unlinked on its phone, and one that is logged out here', async () => {
    const own = await msgappClient(service);
    const phone = newPhone();
    const store = service.app.get(SessionStore);
    const credentials = async (id: string) => (await store.credentials(id, 'creds', ['creds'])).size;
    const unlinked = await linkPhone(own, phone);
    expect(await credentials(unlinked)).toBe(1);
    phone.unlink();
    expect(await session(own, 'logged_out')).toMatchObject({ reason: 'device_removed' });
    await until(async () => (await credentials(unlinked)) === 0);
    const loggedOut = await linkPhone(own, phone);
    expect((await own.logout(loggedOut)).body).toEqual({ success: true });
    await until(() => peer.devicesOf(phone.number).length === 0);
    await until(async () => (await credentials(loggedOut)) === 0);
  });
});

describe('a session over Baileys', () => {
  const services: Service[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
  });

  async function open(options = overBaileys(peer)): Promise<Service> {
    const service = await startMsgapp((given, setup) => startService('express', given, setup), options);
    services.push(service);
    return service;
  }

  test('expires when its codes run out, each of which was shown', async () => {
    peer.faults.refs = 3;
    const client = await msgappClient(await open(overBaileys(peer, { qrTimeoutMs: 50 })));
    const { qr_url, sessionID } = await client.connect();
    const events = await EventReader.open(qr_url);
    await events.end();
    expect(events.events.at(-1)?.data).toEqual({ sessionID, status: 'expired', reason: 'not_scanned' });
    expect((await client.sessions())[0]).toMatchObject({ status: 'expired' });
  });

  test('is replaced permanently if the same credentials connect elsewhere', async () => {
    const service = await open();
    const client = await msgappClient(service);
    const phone = newPhone();
    await linkPhone(client, phone);
    peer.replace(phone.number);
    expect(await session(client, 'replaced')).toMatchObject({ reason: 'replaced' });
    expect(peer.connectionsOf(phone.number)).toEqual([]);
  });

  test('survives a restart without a scan, and sends what was accepted before it', async () => {
    const file = new SqliteFile();
    const [phone, friend] = [newPhone(), newPhone()];
    const before = await open({ ...overBaileys(peer), storage: file.storage() });
    const client = await msgappClient(before);
    await linkPhone(client, phone);
    // Any other number, because one of the home market would need its exact length.
    const spelled = `336${friend.number.slice(-8)}`;
    peer.alias(spelled, friend);
    await client.settled(MsgappClient.idOf(await client.text({ to: spelled, body: 'Bonjour' })), 'delivered');
    peer.faults.held.add('usync/usync');
    const id = MsgappClient.idOf(await client.text({ to: friend.number, body: 'Avant' }));
    services.pop();
    await before.close();
    mend(peer.faults);
    expect(peer.connectionsOf(phone.number)).toEqual([]);
    expect(peer.devicesOf(phone.number)).toHaveLength(1);

    const after = await open({ ...overBaileys(peer), storage: file.storage() });
    const again = new MsgappClient(
      new ApiClient(`${after.url}/api/v1`, client.api.accountId, client.api.key),
      after.url,
    );
    await session(again, 'connected');
    await again.settled(id, 'delivered');
    // Nobody looks the person up, because the address was kept too.
    await again.settled(MsgappClient.idOf(await again.text({ to: spelled, body: 'Après' })), 'delivered');
    expect(peer.soughtNumbers.filter((number) => number === spelled)).toHaveLength(1);
    expect(friend.inbox.map(({ text }) => text)).toEqual(['Bonjour', 'Avant', 'Après']);
    services.pop();
    await after.close();
    await file.close();
  });
});
