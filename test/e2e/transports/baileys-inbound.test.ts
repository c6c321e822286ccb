import { createHash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { proto } from 'baileys';
import { EventLog } from '../../../src/events/event-log.js';
import type { ReceivedMessage } from '../../../src/events/events.api.js';
import { StartedStorage } from '../../../src/storage/messaging-storage.js';
import { messageReference } from '../../../src/transports/baileys/message-sender.js';
import { until } from '../../support/common/until.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { mend } from '../../support/transports/whatsapp/faults.js';
import type { Phone } from '../../support/transports/whatsapp/phone.js';
import { WhatsappPeer } from '../../support/transports/whatsapp/whatsapp-peer.js';
import { linkPhone, overBaileys } from '../../support/transports/whatsapp/whatsapp-service.js';

let peer: WhatsappPeer;
let numbers = 22_671_000_000;

/** A phone that no other test knows. */
const newPhone = (): Phone => peer.phone(String(++numbers));

beforeAll(async () => {
  peer = await WhatsappPeer.start();
});

afterEach(() => mend(peer.faults));

afterAll(async () => {
  await peer.stop();
  expect(peer.complaints).toEqual([]);
});

describeService('messages to a number that is linked over Baileys', (start) => {
  let service: Service;
  let client: MsgappClient;
  let owner: Phone;
  let sessionId: string;
  let seen = 0;

  beforeAll(async () => {
    service = await startMsgapp(start, overBaileys(peer));
    client = await msgappClient(service);
    owner = newPhone();
    sessionId = await linkPhone(client, owner);
    await logOf().switchOn(client.api.accountId, Number.MAX_SAFE_INTEGER);
  });

  const logOf = () => service.app.get(StartedStorage, { strict: false }).store(EventLog);

  async function all(): Promise<ReceivedMessage[]> {
    const query = { accountId: client.api.accountId, after: 0, types: ['msgapp.received'] as const, limit: 500 };
    const { events } = await logOf().read(query);
    return events.flatMap(({ data }) => ('refers_to' in data ? [data] : []));
  }

  /** The messages since the last call, as soon as there are this many. */
  async function received(count: number): Promise<ReceivedMessage[]> {
    const found = await until(all, (messages) => messages.length >= seen + count);
    const fresh = found.slice(seen);
    seen = found.length;
    return fresh;
  }

  const write = (from: Phone, message: proto.IMessage, how?: Parameters<Phone['send']>[2]) =>
    from.send(owner.number, message, how);
  const media = (id: string, key?: string) =>
    fetch(`${service.url}/api/v1/msgapp/received/${id}/media`, { headers: { 'X-Api-Key': key ?? client.api.key } });

  test('are events that say who wrote and when', async () => {
    const friend = newPhone();
    await friend.sendText(owner.number, 'Bonjour');
    const [message] = await received(1);
    expect(message).toEqual({
      id: expect.any(String),
      channel: 'msgapp',
      session: sessionId,
      contact: expect.stringMatching(/^ct_/),
      from: friend.number,
      kind: 'text',
      text: 'Bonjour',
      truncated: false,
      media: null,
      refers_to: null,
      received_at: expect.any(String),
    });
  });

  test('arrive once, even if the app repeats them on this connection and on the next', async () => {
    const friend = newPhone();
    const id = await friend.sendText(owner.number, 'Un');
    await write(friend, { conversation: 'Un' }, { id });
    await received(1);
    const [connection] = peer.connectionsOf(owner.number);
    connection?.cut();
    await until(
      () => peer.connectionsOf(owner.number)[0] ?? connection,
      (now) => now !== connection,
    );
    await until(
      () => client.sessions(),
      (rows) => rows[0]?.status === 'connected',
    );
    await write(friend, { conversation: 'Un' }, { id, offline: true });
    await write(friend, { conversation: 'Deux' }, { offline: true });
    expect((await received(1)).map(({ text }) => text)).toEqual(['Deux']);
    // Another person's message may have the same id.
    await write(newPhone(), { conversation: 'Trois' }, { id });
    expect((await received(1)).map(({ text }) => text)).toEqual(['Trois']);
  });

  test('have no number if the app hides it and never revealed it', async () => {
    const friend = newPhone();
    await write(friend, { conversation: 'Qui suis-je ?' }, { hidden: true });
    expect(await received(1)).toMatchObject([{ from: null, text: 'Qui suis-je ?' }]);
    await write(friend, { conversation: 'C’est moi' });
    await write(friend, { conversation: 'encore' }, { hidden: true });
    expect(await received(2)).toMatchObject([{ from: friend.number }, { from: friend.number }]);
  });

  test('come from a contact, whose number becomes known by a message, or when the app says it', async () => {
    const [friend, other] = [newPhone(), newPhone()];
    const identified = async () => {
      const query = { accountId: client.api.accountId, after: 0, types: ['contact.identified'] as const, limit: 500 };
      const { events } = await logOf().read(query);
      return events.flatMap(({ data }) => ('merged' in data ? [[data.contact, data.number]] : []));
    };
    await write(friend, { conversation: 'Qui suis-je ?' }, { hidden: true });
    await write(other, { conversation: 'Et moi ?' }, { hidden: true });
    const [one, two] = await received(2);
    expect([one?.from, two?.from]).toEqual([null, null]);
    const before = await identified();
    await write(friend, { conversation: 'C’est moi' });
    expect(await received(1)).toMatchObject([{ from: friend.number, contact: one?.contact }]);
    other.reveal(owner.number);
    const known = await until(identified, ({ length }) => length >= before.length + 2);
    expect(known.slice(before.length)).toEqual([
      [one?.contact, friend.number],
      [two?.contact, other.number],
    ]);
    await write(other, { conversation: 'Encore moi' }, { hidden: true });
    expect(await received(1)).toMatchObject([{ from: other.number, contact: two?.contact }]);
  });

  test('that answer, quote or react name the other message, with our id if we sent it', async () => {
    const friend = newPhone();
    const ours = MsgappClient.idOf(await client.text({ to: friend.number, body: 'Votre colis est là' }));
    await client.settled(ours, 'delivered');
    const reference = messageReference(ours);
    const quotedMessage = { conversation: 'Votre colis est là' };
    await write(friend, {
      extendedTextMessage: { text: 'Merci', contextInfo: { stanzaId: reference, quotedMessage } },
    });
    await write(friend, { reactionMessage: { key: { id: reference, fromMe: false }, text: '👍' } });
    await write(friend, { reactionMessage: { key: { id: reference, fromMe: false }, text: '' } });
    await write(friend, { extendedTextMessage: { text: 'Et lui', contextInfo: { stanzaId: '3EB0AAAA' } } });
    expect(await received(4)).toMatchObject([
      { kind: 'text', text: 'Merci', refers_to: { id: ours, text: 'Votre colis est là' } },
      { kind: 'reaction', text: '👍', refers_to: { id: ours, text: null } },
      { kind: 'reaction', text: null, refers_to: { id: ours } },
      { kind: 'text', text: 'Et lui', refers_to: { id: null, text: null } },
    ]);
  });

  test('are shown as read, get reactions, and are quoted by answers, also of people without a number', async () => {
    const friend = newPhone();
    const id = await write(friend, { conversation: 'Où est mon colis ?' }, { hidden: true });
    const [message] = await received(1);
    const act = (what: string, body?: object) =>
      client.api.call(`msgapp/received/${message?.id}/${what}`, { method: 'POST', body });
    expect((await act('seen')).status).toBe(200);
    await until(async () => peer.reads.includes(id));
    expect((await act('react', { emoji: '👍' })).status).toBe(200);
    expect((await act('react', { emoji: '' })).status).toBe(200);
    const answer = MsgappClient.idOf(await client.text({ reply_to: message?.id, body: 'En route' }));
    expect(await client.settled(answer, 'delivered')).toMatchObject({ to: message?.contact });
    const inbox = await until(
      async () => friend.inbox,
      ({ length }) => length >= 3,
    );
    expect(inbox.map(({ content }) => content.reactionMessage?.text)).toEqual(['👍', '', undefined]);
    expect(inbox[0]?.content.reactionMessage?.key).toMatchObject({ id, remoteJid: friend.lid, fromMe: false });
    const quoting = inbox[2]?.content.extendedTextMessage;
    expect([quoting?.text, quoting?.contextInfo?.stanzaId]).toEqual(['En route', id]);
    expect(quoting?.contextInfo?.quotedMessage?.conversation).toBe('Où est mon colis ?');
  });

  test('do not reveal the ids of another account’s messages', async () => {
    const other = await msgappClient(service);
    const [phone, friend] = [newPhone(), newPhone()];
    await linkPhone(other, phone);
    const theirs = MsgappClient.idOf(await other.text({ to: friend.number, body: 'Bonjour' }));
    await other.settled(theirs, 'delivered');
    await write(friend, { reactionMessage: { key: { id: messageReference(theirs) }, text: '?' } });
    expect(await received(1)).toMatchObject([{ refers_to: { id: null } }]);
  });

  test('that are not conversation are left out: own ones, edits, deletions, polls', async () => {
    const friend = newPhone();
    const key = { id: '3A00', fromMe: false, remoteJid: friend.jid };
    await write(friend, { protocolMessage: { type: 0, key } });
    await write(friend, { protocolMessage: { type: 14, key, editedMessage: { conversation: 'Autre' } } });
    await write(friend, { pollCreationMessage: { name: 'Quand ?', options: [] } });
    await write(friend, { contactMessage: { displayName: 'Awa', vcard: '' } });
    await owner.sendText(owner.number, 'à moi-même');
    await write(friend, { conversation: 'Bonjour' });
    expect((await received(1)).map(({ text }) => text)).toEqual(['Bonjour']);
  });

  test.each([
    ['image', { mimetype: 'image/jpeg', caption: 'Le colis' }],
    ['video', { mimetype: 'video/mp4' }],
    ['audio', { mimetype: 'audio/mpeg' }],
    ['voice', { mimetype: 'audio/ogg; codecs=opus', ptt: true }],
    ['document', { mimetype: 'text/html\r\nX: y', fileName: '../../facture d’été".html' }],
  ] as const)('%s: the file is fetched from the app, as an attachment', async (kind, about) => {
    const friend = newPhone();
    const bytes = randomBytes(300_000);
    // A voice note is an audio message with a flag.
    const sentAs = kind === 'voice' ? 'audio' : kind;
    await write(friend, { [`${sentAs}Message`]: { ...friend.upload(sentAs, bytes), ...about } });
    const [message] = await received(1);
    expect(message).toMatchObject({ kind, text: 'caption' in about ? about.caption : null });
    expect(message?.media).toMatchObject({ mimetype: about.mimetype, size: 300_000 });
    const answer = await media(message?.id ?? '');
    expect(answer.status).toBe(200);
    expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(sha256(bytes));
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
    expect(answer.headers.get('content-disposition')).not.toMatch(/\.\.|\/|"$/);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe('sandbox');
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
  });

  test('with a file inside a disappearing or view-once message have that attachment too', async () => {
    const friend = newPhone();
    const imageMessage = { ...friend.upload('image', randomBytes(10)), mimetype: 'image/png' };
    await write(friend, { ephemeralMessage: { message: { imageMessage } } });
    await write(friend, { viewOnceMessageV2: { message: { imageMessage } } });
    expect(await received(2)).toMatchObject([{ kind: 'image' }, { kind: 'image' }]);
  });

  test('of another account, unknown or without a file are a 404; a changed, missing or foreign file is not served', async () => {
    const friend = newPhone();
    const good = friend.upload('image', randomBytes(1000));
    const other = await msgappClient(service);
    for (const wrong of [
      {},
      { directPath: '/v/nothing' },
      { directPath: '@127.0.0.1:1/x' },
      { directPath: `@${new URL(peer.mediaUrl).host}${good.directPath}` },
      { directPath: '//example.com/x' },
      { mediaKey: randomBytes(5) },
    ]) {
      await write(friend, { imageMessage: { ...good, mimetype: 'image/png', ...wrong } });
    }
    await write(friend, { conversation: 'sans fichier' });
    const [ok, gone, ...messages] = await received(7);
    expect((await media(ok?.id ?? '')).status).toBe(200);
    expect((await media(ok?.id ?? '', other.api.key)).status).toBe(404);
    const refused = await media(gone?.id ?? '');
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([410, 'file_gone']);
    expect(await refused.json()).toEqual({
      statusCode: 410,
      message: 'Le fichier n’est plus disponible',
      error: 'Gone',
    });
    const statuses = [];
    for (const { id } of messages) statuses.push((await media(id)).status);
    expect(statuses).toEqual([410, 410, 410, 410, 404]);
    expect((await media('01a1fe2d-0000-7000-8000-000000000000')).status).toBe(404);
    expect((await media('x')).status).toBe(404);
  });

  test('end the answer early if a file is not what was sent', async () => {
    const friend = newPhone();
    const file = friend.upload('document', randomBytes(500_000));
    const blob = peer.blobAt(file.directPath ?? '') ?? Buffer.alloc(0);
    blob.writeUInt8((blob.readUInt8(400_000) + 1) % 256, 400_000);
    await write(friend, { documentMessage: { ...file, mimetype: 'application/pdf' } });
    const [message] = await received(1);
    await expect(media(message?.id ?? '').then((answer) => answer.arrayBuffer())).rejects.toThrow();
  });

  test('have no file any more once their session is over', async () => {
    const mine = await msgappClient(service);
    const [phone, friend] = [newPhone(), newPhone()];
    const session = await linkPhone(mine, phone);
    await logOf().switchOn(mine.api.accountId, Number.MAX_SAFE_INTEGER);
    await friend.send(phone.number, {
      imageMessage: { ...friend.upload('image', randomBytes(9)), mimetype: 'image/png' },
    });
    const query = { accountId: mine.api.accountId, after: 0, types: ['msgapp.received'] as const, limit: 9 };
    const { events } = await until(
      () => logOf().read(query),
      (page) => page.events.length === 1,
    );
    const data = events[0]?.data;
    const id = data && 'refers_to' in data ? data.id : '';
    expect((await media(id, mine.api.key)).status).toBe(200);
    await mine.api.call(`msgapp/web/${session}`, { method: 'DELETE' });
    expect((await media(id, mine.api.key)).status).toBe(410);
  });
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
