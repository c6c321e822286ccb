import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { MediaKind, OutgoingMedia } from '../../../src/msgapp/msgapp-transport.js';
import { BaileysMsgappTransport } from '../../../src/transports/baileys/baileys-msgapp-transport.js';
import { messageReference } from '../../../src/transports/baileys/message-sender.js';
import { until } from '../../support/common/until.js';
import type { Phone } from '../../support/transports/whatsapp/phone.js';
import { TestSession } from '../../support/transports/whatsapp/test-session.js';
import { WhatsappPeer } from '../../support/transports/whatsapp/whatsapp-peer.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let peer: WhatsappPeer;
let transport: BaileysMsgappTransport;
let session: TestSession;
let owner: Phone;
let friend: Phone;

beforeAll(async () => {
  peer = await WhatsappPeer.start();
  transport = new BaileysMsgappTransport({
    waWebSocketUrl: peer.url,
    ca: peer.ca,
    // More than an answer takes on a machine with ten times the load.
    queryTimeoutMs: 2000,
    ackTimeoutMs: 1500,
  });
  await transport.start();
  owner = peer.phone('22670000001');
  friend = peer.phone('22670000002');
  session = await new TestSession(transport).linkTo(owner);
});

afterAll(async () => {
  await session.link.close();
  await transport.stop();
  await peer.stop();
  expect(peer.complaints).toEqual([]);
});

beforeEach(() => {
  friend.inbox.length = 0;
});

function media(kind: MediaKind, mimetype: string, bytes: Buffer, caption?: string): { media: OutgoingMedia } {
  return {
    media: {
      kind,
      mimetype,
      caption,
      fileName: `fichier.${kind}`,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      async *open() {
        for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
      },
    },
  };
}

describe('a text', () => {
  test('is decrypted on the phone, and its receipts come back under its reference', async () => {
    const handOff = await session.send(friend, 'Bonjour à tous', { messageId: 'one' });
    expect(handOff).toEqual({ kind: 'sent', reference: messageReference('one') });
    const [received] = friend.inbox;
    expect(received).toMatchObject({ id: messageReference('one'), text: 'Bonjour à tous' });
    await until(() => session.receipts(messageReference('one')).length === 1);
    if (received) friend.read(received);
    await until(() => session.receipts(messageReference('one')).length === 2);
    expect(session.receipts(messageReference('one'))).toEqual(['delivered', 'read']);
  });

  test('may have 65 536 characters, as in the app; a longer one, or caption, is refused and nothing is sent', async () => {
    const longest = 'é'.repeat(65_536);
    expect(await session.send(friend, longest)).toMatchObject({ kind: 'sent' });
    const tooLong = { kind: 'refused', error: 'text_too_long' };
    expect(await session.send(friend, `${longest}!`)).toEqual(tooLong);
    expect(await session.send(friend, media('image', 'image/png', PNG, `${longest}!`))).toEqual(tooLong);
    expect(friend.inbox.map(({ text }) => text === longest)).toEqual([true]);
  });

  test('continues the same conversation after an answer', async () => {
    await session.send(friend, 'Un');
    const answer = await friend.sendText(owner.number, 'Deux');
    await until(() => peer.confirmed.includes(answer));
    await session.send(friend, 'Trois');
    expect(friend.inbox.map(({ text }) => text)).toEqual(['Un', 'Trois']);
    expect(friend.inbox[1]?.sealedAs).toBe('msg');
  });

  test('keeps a link as it is, without fetching a preview', async () => {
    await session.send(friend, 'Voir https://exemple.test/page');
    expect(friend.inbox[0]?.content.extendedTextMessage).toMatchObject({ text: 'Voir https://exemple.test/page' });
    expect(friend.inbox[0]?.content.extendedTextMessage?.matchedText ?? '').toBe('');
  });
});

describe('a file', () => {
  test.each<[MediaKind, string, Buffer, string | undefined]>([
    ['image', 'image/png', PNG, 'Une photo'],
    ['video', 'video/mp4', randomBytes(300_000), 'Un film'],
    ['document', 'application/pdf', Buffer.from('%PDF-1.4 …'), 'Une facture'],
    ['audio', 'audio/ogg', randomBytes(5000), undefined],
  ])('of kind %s arrives unchanged', async (kind, mimetype, bytes, caption) => {
    expect(await session.send(friend, media(kind, mimetype, bytes, caption))).toMatchObject({ kind: 'sent' });
    const [received] = friend.inbox;
    if (!received) throw new Error('Nothing came.');
    const file = await friend.media(received);
    expect(file).toMatchObject({ kind, mimetype, caption: caption ?? undefined });
    expect(file.bytes.equals(bytes)).toBe(true);
    if (kind === 'document') expect(file.fileName).toBe('fichier.document');
  });

  test('that the media host refuses can be tried again', async () => {
    peer.faults.uploadStatus = 500;
    const before = peer.questions.length;
    expect(await session.send(friend, media('document', 'text/plain', Buffer.from('x')))).toEqual({
      kind: 'retry',
      error: 'upload_failed: code_500',
    });
    peer.faults.uploadStatus = 200;
    expect(friend.inbox).toEqual([]);
    expect(peer.questions.slice(before)).toContain('w:m/media_conn');
    expect(await session.send(friend, media('document', 'text/plain', Buffer.from('x')))).toMatchObject({
      kind: 'sent',
    });
  });

  test('for which the server names no media host in time ends the connection, and the next connection can send files', async () => {
    peer.faults.held.add('w:m/media_conn');
    const other = await new TestSession(transport, 'other').linkTo(peer.phone('22670000005'));
    const file = () => other.send(friend, media('document', 'text/plain', Buffer.from('x')));
    expect(await file()).toEqual({ kind: 'retry', error: 'no_media_server' });
    expect(await other.end()).toEqual({ next: 'retry', reason: 'no_media_server' });
    peer.faults.held.clear();
    await other.close();
    await other.resume();
    expect(await file()).toMatchObject({ kind: 'sent' });
    expect(friend.inbox).toHaveLength(1);
    await other.close();
  });

  test('that cannot be read to its end can be tried again', async () => {
    const { media: whole } = media('document', 'text/plain', Buffer.from('x'));
    const broken: OutgoingMedia = {
      ...whole,
      async *open() {
        yield Buffer.from('x');
        throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      },
    };
    expect(await session.send(friend, { media: broken })).toEqual({ kind: 'retry', error: 'upload_failed: ENOENT' });
  });
});

describe('the server’s reply to a message', () => {
  test('is a refusal if it has an error code', async () => {
    peer.faults.ackError = 479;
    expect(await session.send(friend, 'Non')).toEqual({ kind: 'refused', error: 'ack_error_479', wrongAddress: true });
    delete peer.faults.ackError;
    expect(session.events.filter(({ kind }) => kind === 'restricted')).toEqual([]);
  });

  test('463 also says that the number is restricted', async () => {
    peer.faults.ackError = 463;
    expect(await session.send(friend, 'Non')).toEqual({ kind: 'refused', error: 'ack_error_463' });
    delete peer.faults.ackError;
    expect(await session.hears('restricted')).toEqual({ kind: 'restricted', code: '463', forMs: 86_400_000 });
  });

  test('leaves the message unknown if it does not come', async () => {
    peer.faults.dropAck = true;
    peer.faults.receipts = false;
    const reference = messageReference('nobody knows');
    expect(await session.send(friend, 'Peut-être', { messageId: 'nobody knows' })).toEqual({
      kind: 'unknown',
      error: 'no_ack',
      reference,
    });
    const [received] = friend.inbox;
    if (received) friend.read(received);
    await until(() => session.receipts(reference).length > 0);
    expect(session.receipts(reference)).toEqual(['read']);
    peer.faults.dropAck = false;
    peer.faults.receipts = true;
  });

  test('may be a receipt instead of an acknowledgement', async () => {
    peer.faults.dropAck = true;
    expect(await session.send(friend, 'Oui')).toMatchObject({ kind: 'sent' });
    peer.faults.dropAck = false;
  });
});

describe('the recipient', () => {
  test('exists, does not exist, or nobody says so', async () => {
    expect(await session.link.exists(friend.number)).toBe(friend.jid);
    peer.alias('226700000011', friend);
    expect(await session.link.exists('226700000011')).toBe(friend.jid);
    expect(await session.link.exists('22679999999')).toBe(false);
    peer.faults.held.add('usync/usync');
    expect(await session.link.exists(friend.number)).toBeUndefined();
    peer.faults.held.clear();
  });

  test('whose devices the server does not name gets nothing, instead of an empty message', async () => {
    const stranger = peer.phone('22670000003');
    peer.faults.held.add('usync/usync');
    const messages = owner.copies.length;
    const lost = { kind: 'retry', error: 'no_devices', wrongAddress: true };
    expect(await session.send(stranger, 'Qui ?')).toEqual(lost);
    peer.faults.held.clear();
    expect(owner.copies.length).toBe(messages);
    expect(await session.send(stranger, 'Vous')).toMatchObject({ kind: 'sent' });
    expect(stranger.inbox.map(({ text }) => text)).toEqual(['Vous']);
  });

  test('that is the linked number itself has it at once, because its own phone sends no receipts', async () => {
    const known = owner.copies.length;
    expect(await session.send(owner, 'À moi')).toMatchObject({ kind: 'sent', final: 'delivered' });
    const copies = owner.copies.slice(known);
    // Baileys encrypts it for the phone as the sender's and as the recipient's device. With one id the app shows one
    // message.
    expect(new Set(copies.map(({ id, text }) => `${id} ${text}`)).size).toBe(1);
  });

  test('without an account gets nothing', async () => {
    expect(
      await session.link.send(
        { messageId: 'x', from: owner.number, to: '22679999999', attempt: 1, content: { text: 'x' } },
        new AbortController().signal,
      ),
    ).toEqual({ kind: 'retry', error: 'no_devices', wrongAddress: true });
  });

  test('whose keys the server withholds does not delay others for long', async () => {
    const stranger = peer.phone('22670000004');
    peer.faults.held.add('encrypt/key');
    expect(await session.send(stranger, 'Un')).toEqual({ kind: 'retry', error: 'relay_failed: code_500' });
    expect(await session.send(friend, 'Deux')).toMatchObject({ kind: 'sent' });
    peer.faults.held.clear();
    expect(stranger.inbox).toEqual([]);
  });
});

describe('a message that a phone could not decrypt', () => {
  test('is sent again, also on a later connection, and only to its recipient', async () => {
    await session.send(friend, 'Encore');
    const [first] = friend.inbox;
    if (!first) throw new Error('Nothing came.');
    friend.askAgain(first);
    await until(() => friend.inbox.length === 2);
    await session.link.close();
    await session.resume();
    peer.phone('22670000003').askAgain(first);
    friend.askAgain(first);
    await until(() => friend.inbox.length === 3);
    expect(friend.inbox.map(({ id, text }) => ({ id, text }))).toEqual(
      Array.from({ length: 3 }, () => ({ id: first.id, text: 'Encore' })),
    );
    expect(peer.phone('22670000003').inbox.map(({ text }) => text)).not.toContain('Encore');
  });
});
