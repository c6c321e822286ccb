import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { type FetchedMedia, MediaRefusedError } from '../../../src/media/media-fetcher.js';
import { MediaStore } from '../../../src/media/media-store.js';
import type { MsgappOptions } from '../../../src/msgapp/msgapp-options.js';
import type { LinkEvent, OutgoingMsgapp } from '../../../src/msgapp/msgapp-transport.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { PNG } from '../../support/common/png.js';
import { settled } from '../../support/common/settled.js';
import { photoWithThumbnail } from '../../support/media/photo-with-thumbnail.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

const NUMBER = '22670000000';
const SECOND = '22670000001';
const TO = '22675000000';
const URL = 'https://files.example/photo';
const opened = closeAfterEach();
const cut: LinkEvent = { kind: 'ended', end: { next: 'retry', reason: 'cut' } };

beforeAll(() => Logger.overrideLogger(false));

async function open(options: Partial<MsgappOptions> = {}) {
  const world = await MsgappFixture.open();
  const transport = new ScriptedTransport();
  const process = opened(await new MsgappProcess(world, transport, options).start());
  const text = (over: object = {}) => process.service.sendText(ACCOUNT, { to: TO, body: 'Bonjour', ...over });
  const media = (over: object = {}) => process.service.sendMedia(ACCOUNT, { to: TO, mediaUrl: URL, ...over });
  const serve = (bytes: readonly Uint8Array[], over: Partial<FetchedMedia> = {}) => {
    process.fetcher.answer = async () => ({ contentType: undefined, fileName: undefined, body: from(bytes), ...over });
  };
  return { world, transport, process, text, media, serve };
}

async function openLinked(options: Partial<MsgappOptions> = {}) {
  const all = await open(options);
  await linked(all.process, NUMBER);
  return { ...all, link: all.transport.last() };
}

async function* from(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* chunks;
}

async function bytesOf(message: OutgoingMsgapp | undefined): Promise<Buffer> {
  if (!message || !('media' in message.content)) throw new Error('There is no file.');
  const chunks: Uint8Array[] = [];
  for await (const chunk of message.content.media.open()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const refused = (code: string, values?: object) => expect.objectContaining(values ? { code, values } : { code });

describe('the sender', () => {
  test('is missing while nothing is connected, and nothing is charged', async () => {
    const { world, process, text } = await open();
    await expect(text()).rejects.toEqual(refused('error.msgapp_no_session'));
    const { sessionID } = await process.sessions.connect(ACCOUNT);
    await settled();
    await expect(text()).rejects.toEqual(refused('error.msgapp_no_session'));
    await expect(text({ from: NUMBER })).rejects.toEqual(refused('error.msgapp_not_connected', { from: NUMBER }));
    expect([await world.balance(), await world.status(sessionID)]).toEqual([1000, 'created']);
  });

  test('is the number that was connected first and is connected now, unless another one is requested', async () => {
    const { world, process, transport, text } = await openLinked();
    await world.pass(1000);
    await linked(process, SECOND);
    const [first, second] = transport.links;
    const fromOf = async (over = {}) => (await process.service.message(ACCOUNT, (await text(over)).messageID)).from;
    expect([await fromOf(), await fromOf({ from: SECOND }), await fromOf({ from: NUMBER })]).toEqual([
      NUMBER,
      SECOND,
      NUMBER,
    ]);
    await first?.say(cut);
    expect(await fromOf()).toBe(SECOND);
    await expect(text({ from: NUMBER })).rejects.toEqual(refused('error.msgapp_reconnecting', { from: NUMBER }));
    await world.pass(2000);
    await transport.last().say({ kind: 'open', number: NUMBER });
    expect(await fromOf()).toBe(NUMBER);
    await second?.say(cut);
    expect(await fromOf()).toBe(NUMBER);
  });

  test('is never a number of another account', async () => {
    const { world, process } = await openLinked();
    await world.storage.store(AccountStore).createAccount({ id: 'acc2', name: 'B', createdAt: 0 });
    for (const from of [undefined, NUMBER]) {
      await expect(process.service.sendText('acc2', { to: TO, body: 'x', from })).rejects.toThrow();
    }
  });

  test('is refused from the very moment of the cut', async () => {
    const { text, link } = await openLinked();
    await text();
    void link.say(cut);
    await expect(text()).rejects.toMatchObject({
      code: 'error.msgapp_reconnecting',
      values: { from: NUMBER },
      retryAfter: 5,
    });
  });

  test('is refused even if the cut comes while the sessions are being looked up', async () => {
    const { world, process, text, link } = await openLinked();
    const list = process.sessions.list.bind(process.sessions);
    process.sessions.list = async (accountId) => {
      const found = await list(accountId);
      void link.say(cut);
      return found;
    };
    await expect(text()).rejects.toEqual(refused('error.msgapp_reconnecting'));
    expect(await world.balance()).toBe(1000);
  });

  test('that reconnects is distinguished from one that never existed, or no longer exists', async () => {
    const { world, process, transport, text, link } = await openLinked();
    await linked(process, SECOND);
    const other = transport.last();
    await link.say(cut);
    await other.say(cut);
    // Without a requested number, the one that was connected first is worth waiting for.
    await expect(text()).rejects.toEqual(refused('error.msgapp_reconnecting', { from: NUMBER }));
    await expect(text({ from: SECOND })).rejects.toEqual(refused('error.msgapp_reconnecting', { from: SECOND }));
    const never = '22670000099';
    await expect(text({ from: never })).rejects.toEqual(refused('error.msgapp_not_connected', { from: never }));
    const another = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
    const elsewhere = another.service.sendText(ACCOUNT, { to: TO, body: 'x' });
    await expect(elsewhere).rejects.toEqual(refused('error.msgapp_reconnecting', { from: NUMBER }));
    for (const { sessionID } of (await process.sessions.status(ACCOUNT)).sessions) {
      await process.sessions.logout(ACCOUNT, sessionID);
    }
    await expect(text({ from: NUMBER })).rejects.toEqual(refused('error.msgapp_not_connected', { from: NUMBER }));
    await expect(text()).rejects.toEqual(refused('error.msgapp_no_session'));
    expect(await world.balance()).toBe(1000);
  });

  test('may have its session in another process', async () => {
    const { world } = await openLinked();
    const other = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
    const { messageID } = await other.service.sendText(ACCOUNT, { to: TO, body: 'Bonjour' });
    expect((await other.service.message(ACCOUNT, messageID)).from).toBe(NUMBER);
  });
});

describe('a text', () => {
  test('is answered with its id, and charged at the channel’s own price', async () => {
    const { world, text } = await openLinked({ tariff: { text: 3, media: 7 } });
    const reply = await text();
    expect(reply).toEqual({ success: true, messageID: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect([await world.balance(), await world.books()]).toEqual([997, []]);
  });

  test.each([
    [{ to: '+22675000000' }, 'error.invalid_number'],
    [{ to: '075000000' }, 'error.invalid_number'],
    [{ to: '' }, 'error.invalid_number'],
    [{ body: '' }, 'error.empty_message'],
    [{ body: ' \n\t' }, 'error.empty_message'],
    [{ body: '\u200b\ufeff' }, 'error.empty_message'],
    [{ body: '\u2800\u3164\ufe0f' }, 'error.empty_message'],
    [{ body: undefined }, 'error.empty_message'],
  ])('%j is refused with %s', async (over, code) => {
    const { world, text } = await openLinked();
    await expect(text(over)).rejects.toEqual(refused(code));
    expect(await world.balance()).toBe(1000);
  });

  test('to an impossible number is refused if the host checks numbers', async () => {
    const { text } = await openLinked({ strictNumbers: true });
    await expect(text({ to: '22600000000' })).rejects.toEqual(refused('error.invalid_number'));
    await text({ to: '22670123456' });
  });

  test('with a code to an impossible number is refused there as well', async () => {
    const { process } = await openLinked({ strictNumbers: true });
    const code = (number: string) => process.channel.draft({ accountId: ACCOUNT, number, text: 'x' });
    await expect(code('22600000000')).rejects.toEqual(refused('error.invalid_number', { number: '22600000000' }));
    await expect(code('22670123456')).resolves.toMatchObject({ sender: NUMBER });
  });

  test('with a code to such a number is sent if the host switches the check off', async () => {
    const { process } = await openLinked();
    const draft = process.channel.draft({ accountId: ACCOUNT, number: '22600000000', text: 'x' });
    await expect(draft).resolves.toMatchObject({ sender: NUMBER });
  });

  test.each([
    ['a\0b', 'U+0000'],
    ['half a pair \ud83d', 'U+D83D'],
    ['\udc00 the other half', 'U+DC00'],
  ])('or a caption with an invalid character is refused, and the character is named: %j', async (body, character) => {
    const { process, text, media } = await openLinked();
    const refusal = refused('error.unsendable_character', { character });
    await expect(text({ body })).rejects.toEqual(refusal);
    await expect(media({ caption: body })).rejects.toEqual(refusal);
    expect(process.fetcher.requests).toEqual([]);
    await expect(text({ body: 'whole 📦 \u0001 \uffff' })).resolves.toMatchObject({ success: true });
  });

  test('is refused if the balance is too low', async () => {
    const { world, text } = await openLinked({ tariff: { text: 600, media: 2 } });
    await text();
    await expect(text()).rejects.toEqual(refused('error.insufficient_balance'));
    expect([await world.balance(), await world.books()]).toEqual([400, []]);
  });

  test('under an Idempotency-Key is sent once, even if nothing is connected any more', async () => {
    const { world, process, link } = await openLinked();
    const accept = (body: string) =>
      process.service.acceptText(ACCOUNT, { to: TO, body }, { once: { key: 'k', body: { to: TO, body } } });
    const first = await accept('Bonjour');
    await link.say(cut);
    expect(await accept('Bonjour')).toEqual({ reply: first.reply, replayed: true });
    await expect(accept('Autre')).rejects.toEqual(refused('error.idempotency_mismatch'));
    expect(await world.balance()).toBe(999);
  });

  test('with a code is never shown again', async () => {
    const { world, process, link } = await openLinked();
    process.texts.register({ kind: 'otp', text: () => '1234 est votre code' });
    const draft = await process.channel.draft({ accountId: ACCOUNT, number: TO, text: '0000 est votre code' });
    expect(draft).toEqual({ sender: NUMBER, lane: expect.any(String), units: 1 });
    await process.outbox.accept({
      id: 'code',
      accountId: ACCOUNT,
      channel: 'msgapp',
      lane: draft.lane ?? '',
      sender: draft.sender,
      payload: { kind: 'otp' },
      recipients: [{ number: TO, units: 1 }],
      at: world.clock.now(),
      reply: {},
    });
    await world.pass(100, 50);
    expect(link.sent.map(({ content }) => content)).toEqual([{ text: '1234 est votre code' }]);
    await expect(process.service.message(ACCOUNT, 'code')).rejects.toEqual(refused('error.message_not_found'));
  });

  test('with a code that can no longer be computed is refunded', async () => {
    const { world, process, link } = await openLinked();
    const { lane = '', sender } = await process.channel.draft({ accountId: ACCOUNT, number: TO, text: 'x' });
    await process.outbox.accept({
      id: 'code',
      accountId: ACCOUNT,
      channel: 'msgapp',
      lane,
      sender,
      payload: { kind: 'gone' },
      recipients: [{ number: TO, units: 1 }],
      at: world.clock.now(),
      reply: {},
    });
    await world.pass(100, 50);
    expect([link.sent, await world.balance(), await world.books()]).toEqual([[], 1000, []]);
  });

  test('without a session, no code is sent', async () => {
    const { process } = await open();
    await expect(process.channel.draft({ accountId: ACCOUNT, number: TO, text: 'x' })).rejects.toEqual(
      refused('error.msgapp_no_session'),
    );
  });
});

describe('a look-up', () => {
  test('finds an account’s own messages of this channel only', async () => {
    const { process, text } = await openLinked();
    const { messageID } = await text();
    for (const [account, id] of [
      ['acc2', messageID],
      [ACCOUNT, 'nothing'],
      [ACCOUNT, "' OR 1=1 \u0000"],
    ] as const) {
      await expect(process.service.message(account, id)).rejects.toEqual(refused('error.message_not_found'));
    }
  });
});

describe('a file', () => {
  const withThumbnail = photoWithThumbnail();

  test('arrives unchanged: bytes, kind, type, name, size and hash', async () => {
    const { world, process, media, serve, link } = await openLinked();
    const big = Buffer.alloc(100_000, 7);
    serve([PNG, big], { contentType: 'application/pdf', fileName: 'photo.pdf' });
    const { messageID } = await media({ caption: 'Voilà' });
    await world.pass(100, 50);
    const bytes = Buffer.concat([PNG, big]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = { mimetype: 'image/png', fileName: 'photo.pdf', size: bytes.length, sha256, caption: 'Voilà' };
    expect(link.sent[0]?.content).toEqual({ media: { kind: 'image', ...file, open: expect.any(Function) } });
    expect(await process.service.message(ACCOUNT, messageID)).toMatchObject({
      body: null,
      media: { type: 'image', ...file },
      units: 2,
      status: 'sent',
    });
    expect(await world.balance()).toBe(998);
  });

  test('can be read from its start for every attempt, and is deleted once its final state is stored', async () => {
    const { world, transport, media, serve, link } = await openLinked();
    serve([PNG]);
    const read: string[] = [];
    transport.carrier = async (message) => {
      read.push((await bytesOf(message)).toString('hex'));
      return message.attempt < 3 ? { kind: 'retry', error: 'busy' } : { kind: 'sent' };
    };
    await media();
    await world.pass(15_000);
    expect(read).toEqual(Array(3).fill(PNG.toString('hex')));
    await expect(bytesOf(link.sent[0])).rejects.toThrow();
  });

  test('is shown as the requested kind', async () => {
    const { world, media, serve, link } = await openLinked();
    serve([PNG]);
    await media({ mediaType: 'document' });
    await world.pass(100, 50);
    expect(link.sent[0]?.content).toMatchObject({ media: { kind: 'document', mimetype: 'image/png' } });
    await expect(media({ mediaType: 'sticker' })).rejects.toEqual(
      refused('error.field_invalid', { field: 'mediaType' }),
    );
  });

  test.each([
    ['image', '<!DOCTYPE html><title>Connexion</title>', 'photo.png'],
    ['document', '<!DOCTYPE html><title>Connexion</title>', 'facture.pdf'],
    [undefined, '<!DOCTYPE html><title>Connexion</title>', 'photo.png'],
    ['image', PNG.subarray(0, 50), 'photo.png'],
    ['image', withThumbnail.subarray(0, -2), 'photo.jpg'],
    ['image', '%PDF-1.4', 'photo.png'],
    ['video', PNG, 'clip.mp4'],
    ['audio', '%PDF-1.4', 'voix.mp3'],
    ['voice', PNG, 'voix.ogg'],
    ['voice', Buffer.from('fffb9064', 'hex'), 'voix.mp3'],
  ] as const)(
    'called %s whose bytes are of another type is refused: nothing charged, nothing stored',
    async (mediaType, bytes, fileName) => {
      const { world, process, media, serve } = await openLinked();
      serve([typeof bytes === 'string' ? Buffer.from(bytes) : bytes], { contentType: 'image/png', fileName });
      await expect(media({ mediaType })).rejects.toEqual(refused('error.media_unavailable', {}));
      expect([await world.balance(), await world.books(), kept(world)]).toEqual([1000, [], 0]);
      expect(process.fetcher.requests).toHaveLength(1);
    },
  );

  test('that was cut is sent as a document if nobody called it an image', async () => {
    const { world, media, serve, link } = await openLinked();
    serve([PNG.subarray(0, 30), PNG.subarray(30, 50)]);
    await media();
    // The end marker is split between two chunks.
    serve([PNG.subarray(0, -4), PNG.subarray(-4)]);
    await media();
    await world.pass(200, 50);
    expect(link.sent.map(({ content }) => 'media' in content && content.media.kind)).toEqual(['document', 'image']);
  });

  test('that was cut, with a complete thumbnail, is sent as a document', async () => {
    const { world, media, serve, link } = await openLinked();
    serve([withThumbnail.subarray(0, -2)]);
    await media();
    serve([withThumbnail]);
    await media();
    await world.pass(200, 50);
    expect(link.sent.map(({ content }) => 'media' in content && content.media.kind)).toEqual(['document', 'image']);
  });

  test('of speech is sent as a voice note, at the price of a file', async () => {
    const { world, process, media, serve, link } = await openLinked();
    const [head, opus] = [Buffer.from('OggS\0\x02', 'latin1'), Buffer.from('\x01\x13OpusHead', 'latin1')];
    serve([head, Buffer.alloc(20), opus, Buffer.alloc(64)]);
    const { messageID } = await media({ mediaType: 'voice' });
    await world.pass(100, 50);
    const note = { kind: 'voice', mimetype: 'audio/ogg; codecs=opus' };
    expect(link.sent[0]?.content).toMatchObject({ media: note });
    expect(await process.service.message(ACCOUNT, messageID)).toMatchObject({ media: { type: 'voice' }, units: 2 });
  });

  test.each<[string, () => Promise<FetchedMedia>]>([
    ['cannot be fetched', () => Promise.reject(new MediaRefusedError('private address'))],
    ['makes the fetcher throw anything', () => Promise.reject(new TypeError('boom'))],
    ['is empty', async () => ({ contentType: 'image/png', fileName: 'a', body: from([]) })],
    ['breaks off', async () => ({ contentType: 'image/png', fileName: 'a', body: breaking() })],
    ['is too large, whatever the fetcher says', async () => ({ contentType: 'x', fileName: 'a', body: endless() })],
  ])('that %s always causes the same refusal: nothing charged, nothing stored', async (_, answer) => {
    const { world, process, media } = await openLinked();
    process.fetcher.answer = answer;
    await expect(media()).rejects.toEqual(refused('error.media_unavailable', {}));
    expect([await world.balance(), await world.books(), kept(world)]).toEqual([1000, [], 0]);
  });

  test('that takes too long is refused before the request itself', async () => {
    const { world, process, media } = await openLinked();
    process.fetcher.answer = ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject));
    const sending = media();
    sending.catch(() => undefined);
    await world.pass(24_000, 1000);
    expect(process.fetcher.requests[0]?.signal.aborted).toBe(false);
    await world.pass(2000, 1000);
    await expect(sending).rejects.toEqual(refused('error.media_unavailable'));
  });

  test('that nobody waits for any more is not fetched to its end', async () => {
    const { process } = await openLinked();
    const leaving = new AbortController();
    process.fetcher.answer = ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject));
    const sending = process.service.sendMedia(ACCOUNT, { to: TO, mediaUrl: URL }, { signal: leaving.signal });
    await settled();
    leaving.abort();
    await expect(sending).rejects.toEqual(refused('error.media_unavailable'));
  });

  test('that the storage cannot store is an error of the storage', async () => {
    const { world, media, serve } = await openLinked();
    serve([PNG]);
    world.storage.store(MediaStore).write = async () => {
      throw new StorageUnavailableError('away');
    };
    await expect(media()).rejects.toEqual(refused('error.storage_unavailable'));
  });

  test('is requested with the documented limit, and only once everything else is valid', async () => {
    const { process, media, serve, link } = await openLinked();
    serve([PNG]);
    await expect(media({ to: 'x' })).rejects.toEqual(refused('error.invalid_number'));
    await expect(media({ from: SECOND })).rejects.toEqual(refused('error.msgapp_not_connected'));
    await link.say(cut);
    await expect(media()).rejects.toEqual(refused('error.msgapp_reconnecting'));
    expect(process.fetcher.requests).toEqual([]);
    await process.transport.last().say(cut);
  });

  test('is not even fetched for an account that cannot pay for it', async () => {
    const { world, process, media, serve } = await openLinked({ tariff: { text: 1, media: 1001 } });
    serve([PNG]);
    await expect(media()).rejects.toEqual(refused('error.insufficient_balance'));
    expect([await world.balance(), kept(world)]).toEqual([1000, 0]);
    expect(process.fetcher.requests).toEqual([]);
  });

  test('is not stored if the units have been spent by the time it is there', async () => {
    const { world, process, media, serve } = await openLinked({ tariff: { text: 1, media: 1000 } });
    serve([PNG]);
    const { answer } = process.fetcher;
    process.fetcher.answer = async (request) => {
      await process.service.sendText(ACCOUNT, { to: TO, body: 'first' });
      return answer(request);
    };
    await expect(media()).rejects.toEqual(refused('error.insufficient_balance'));
    expect([await world.balance(), kept(world)]).toEqual([999, 0]);
    expect(process.fetcher.requests).toMatchObject([{ url: URL, maxBytes: 52_428_800 }]);
  });

  test('of a replay is neither fetched nor stored twice', async () => {
    const { world, process, serve } = await openLinked();
    serve([PNG]);
    const accept = () =>
      process.service.acceptMedia(ACCOUNT, { to: TO, mediaUrl: URL }, { once: { key: 'k', body: {} } });
    const [first, second] = [await accept(), await accept()];
    expect([second.replayed, second.reply]).toEqual([true, first.reply]);
    expect([process.fetcher.requests.length, await world.balance()]).toEqual([1, 998]);
  });

  test('of the loser of a race between two processes is not stored', async () => {
    const { world, process, serve } = await openLinked();
    const other = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
    for (const each of [process, other]) each.transport.carrier = () => new Promise(() => undefined);
    serve([PNG]);
    other.fetcher.answer = process.fetcher.answer;
    const accept = (each: MsgappProcess) =>
      each.service.acceptMedia(ACCOUNT, { to: TO, mediaUrl: URL }, { once: { key: 'k', body: {} } });
    const both = await Promise.all([accept(process), accept(other)]);
    expect(both.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    expect(both[0].reply).toEqual(both[1].reply);
    expect([kept(world), await world.balance()]).toEqual([1, 998]);
  });

  test('that is being fetched when its session ends leaves nothing behind of that session', async () => {
    const { world, process, media, serve, link } = await openLinked();
    serve([PNG]);
    const files = world.storage.store(MediaStore);
    const read = files.read.bind(files);
    const gate = new Gate();
    files.read = async function* (id) {
      await gate.opened;
      yield* read(id);
    };
    await media();
    await world.pass(100, 50);
    await link.say({ kind: 'ended', end: { next: 'give-up', status: 'banned', reason: 'no' } });
    await settled();
    expect(process.sessions.sessions).toEqual([]);
    gate.open();
    await world.pass(100, 50);
    expect(Reflect.get(process.channel, 'lanesOfSessions')).toMatchObject({ lanes: new Map() });
  });

  test('of a message whose commit was not answered is kept: a repeat under the key replays, and it is delivered', async () => {
    const { world, process, serve, link } = await openLinked();
    serve([PNG]);
    loseNextAnswer(world);
    const accept = () =>
      process.service.acceptMedia(ACCOUNT, { to: TO, mediaUrl: URL }, { once: { key: 'k', body: {} } });
    await expect(accept()).rejects.toEqual(refused('error.storage_unavailable'));
    const { reply, replayed } = await accept();
    expect([replayed, process.fetcher.requests.length]).toEqual([true, 1]);
    // Nobody notified the worker, which finds it by itself.
    await world.pass(60_000, 1000);
    const { messageID } = reply as { messageID: string };
    expect(await process.service.message(ACCOUNT, messageID)).toMatchObject({ status: 'sent', refunded_units: 0 });
    expect(link.sent.map(({ messageId }) => messageId)).toEqual([messageID]);
    expect([kept(world), await world.balance(), await world.books()]).toEqual([0, 998, []]);
  });

  test('that was lost before it could be sent is refunded, and one that cannot be read now is sent later', async () => {
    const { world, process, media, serve, link } = await openLinked();
    serve([PNG]);
    const files = world.storage.store(MediaStore);
    const read = files.read.bind(files);
    files.read = () => {
      throw new StorageUnavailableError('away');
    };
    const late = await media();
    await world.pass(1000);
    expect((await process.service.message(ACCOUNT, late.messageID)).status).toBe('sending');
    files.read = read;
    await world.pass(10_000);
    expect((await process.service.message(ACCOUNT, late.messageID)).status).toBe('sent');
    files.read = () => {
      throw new Error('not there');
    };
    const lost = await media();
    await world.pass(100, 50);
    expect(await process.service.message(ACCOUNT, lost.messageID)).toMatchObject({
      status: 'failed',
      error: 'no_content',
      refunded_units: 2,
    });
    expect(link.sent).toHaveLength(1);
  });
});

/** The number of stored files. */
function kept(world: MsgappFixture): number {
  return Number(world.storage.database.prepare('SELECT count(*) FROM messaging_media').pluck().get());
}

/** The next commit takes effect, and its answer is lost. */
function loseNextAnswer({ storage }: MsgappFixture): void {
  const outbox = storage.store(OutboxStore);
  const { commit } = outbox;
  outbox.commit = async (...asked) => {
    outbox.commit = commit;
    await outbox.commit(...asked);
    throw new StorageUnavailableError('The connection ended before the answer came.');
  };
}

async function* breaking(): AsyncGenerator<Uint8Array, void> {
  yield PNG;
  throw new MediaRefusedError('cut short');
}

async function* endless(): AsyncGenerator<Uint8Array, void> {
  const chunk = Buffer.alloc(1_048_576);
  for (;;) yield chunk;
}
