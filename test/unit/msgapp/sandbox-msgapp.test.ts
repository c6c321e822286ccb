import { createHash } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { MediaStore } from '../../../src/media/media-store.js';
import type { MsgappOptions } from '../../../src/msgapp/msgapp-options.js';
import type { IncomingMsgapp } from '../../../src/msgapp/msgapp-transport.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { PhoneReplies } from '../../../src/sandbox/phones/phone-replies.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { SandboxFeed } from '../../../src/sandbox/sandbox-feed.js';
import { SandboxMsgappTransport } from '../../../src/sandbox/sandbox-msgapp-transport.js';
import { SandboxScanner } from '../../../src/sandbox/sandbox-scanner.js';
import { describeMsgappTransport } from '../../contract/msgapp/msgapp-contract.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';

const NUMBER = '22670000000';
const TO = '22675000000';
const PDF = Buffer.from('%PDF-1.4 a document');
const opened = closeAfterEach();
const never = new AbortController().signal;

beforeAll(() => Logger.overrideLogger(false));

function start(world: MsgappFixture, scanner: SandboxScanner, options: Partial<MsgappOptions> = {}) {
  const { storage, clock } = world;
  const feed = new SandboxFeed();
  const ids = new UuidGenerator();
  const transport = new SandboxMsgappTransport(
    storage.store(PhoneStore),
    feed,
    scanner,
    clock,
    ids,
    storage.store(MediaStore),
  );
  return Object.assign(new MsgappProcess(world, transport, options), { feed }).start();
}

async function open() {
  const world = await MsgappFixture.open();
  const scanner = new SandboxScanner();
  const process = opened(await start(world, scanner));
  const connect = async () => {
    const { sessionID, qrToken } = await process.sessions.connect(ACCOUNT);
    const code = await process.sessions.currentQr(qrToken, 1000, never);
    return { sessionID, qrToken, qr: code?.qr ?? '' };
  };
  return { world, scanner, process, connect };
}

async function openLinked() {
  const all = await open();
  const { qr } = await all.connect();
  await all.scanner.scan(qr, NUMBER);
  const send = async (to: string) => {
    const { messageID } = await all.process.service.sendText(ACCOUNT, { to, body: 'Bonjour' });
    await all.world.pass(100, 50);
    return messageID;
  };
  const status = async (id: string) => (await all.process.service.message(ACCOUNT, id)).status;
  return { ...all, send, status };
}

/** Remembers the last message to a linked number, so that it can be repeated. */
class RepeatingScanner extends SandboxScanner {
  private last: IncomingMsgapp | undefined;

  override receiverOf(channel: string, number: string) {
    const receive = super.receiverOf(channel, number);
    return (
      receive &&
      (async (message: IncomingMsgapp) => {
        this.last = message;
        await receive(message);
      })
    );
  }

  async repeat(): Promise<void> {
    if (this.last) await this.receiverOf('msgapp', NUMBER)?.(this.last);
  }
}

describeMsgappTransport(
  'the sandbox',
  async () => {
    const { storage, clock } = await MsgappFixture.open();
    const [phones, media] = [storage.store(PhoneStore), storage.store(MediaStore)];
    const [scanner, ids] = [new RepeatingScanner(), new UuidGenerator()];
    const replies = new PhoneReplies(phones, scanner, media, clock, ids);
    return {
      transport: new SandboxMsgappTransport(phones, new SandboxFeed(), scanner, clock, ids, media),
      phone: NUMBER,
      scan: (qr) => scanner.scan(qr, NUMBER),
      number: (outcome) => ({ taken: TO, refused: '22675990001', busy: '22675990002' })[outcome as string],
      received: async (number) =>
        (await phones.messages(number)).map(({ text, media }) => ({
          text: media?.caption ?? text,
          sha256: media?.sha256,
        })),
      write: async (from, { text = '', answers, file, again, hidden }) => {
        if (again) return scanner.repeat();
        const last = answers && (await phones.messages(from)).at(-1)?.messageId;
        if (!file) return replies.write(from, { channel: 'msgapp', to: NUMBER, text, replyTo: last, hidden });
        const id = ids.next();
        await media.write(id, chunksOf(file), clock.now());
        const about = { mimetype: 'text/plain', size: file.length, fileName: 'facture.txt', file: id };
        const message = { id, chat: from, from, kind: 'document', media: about, at: clock.now() } as const;
        await scanner.receiverOf('msgapp', NUMBER)?.(message);
      },
      hidesNumbers: true,
      close: () => storage.stop(),
    };
  },
  { describe, test, beforeEach, afterEach },
);

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

describe('a sandbox phone that scans a code', () => {
  test('is connected when the scan has been answered', async () => {
    const { scanner, process, connect } = await open();
    const { qr, sessionID } = await connect();
    expect(scanner.codes).toEqual([{ qr, channel: 'msgapp', sessionId: sessionID }]);
    expect(await scanner.scan(qr, NUMBER)).toBe(true);
    expect(await process.sessions.status(ACCOUNT)).toMatchObject({ sessionID, status: 'connected', number: NUMBER });
    expect(scanner.codes).toEqual([]);
  });

  test('can do so once, and not with a code that is no longer shown', async () => {
    const { world, scanner, process, connect } = await open();
    const first = await connect();
    await scanner.scan(first.qr, NUMBER);
    expect(await scanner.scan(first.qr, '22670000009')).toBe(false);
    const second = await connect();
    await world.pass(60_000, 1000);
    expect(await scanner.scan(second.qr, NUMBER)).toBe(false);
    const third = await connect();
    await process.sessions.logout(ACCOUNT, third.sessionID);
    expect(await scanner.scan(third.qr, NUMBER)).toBe(false);
    expect(await scanner.scan('sandbox:msgapp:made-up', NUMBER)).toBe(false);
  });

  test('sees a new code when the previous one has expired, until the session expires', async () => {
    const { world, scanner, process } = await open();
    const { sessionID } = await process.sessions.connect(ACCOUNT);
    await settled();
    const codes = new Set<string>();
    for (let at = 0; at < 175_000; at += 5000) {
      for (const { qr } of scanner.codes) codes.add(qr);
      expect(scanner.codes).toHaveLength(1);
      await world.pass(5000, 1000);
    }
    expect(codes.size).toBe(1 + 6);
    await world.pass(10_000, 1000);
    expect([await world.status(sessionID), scanner.codes]).toEqual(['expired', []]);
  });

  test('gets another code if the database is unavailable', async () => {
    const { world, scanner, process, connect } = await open();
    const { qr } = await connect();
    const sessions = world.storage.store(SessionStore);
    const write = sessions.writeCredentials.bind(sessions);
    sessions.writeCredentials = async () => {
      throw new StorageUnavailableError('away');
    };
    await expect(scanner.scan(qr, NUMBER)).rejects.toThrow(StorageUnavailableError);
    sessions.writeCredentials = write;
    const [next] = scanner.codes;
    expect(next?.qr).not.toBe(qr);
    expect(await scanner.scan(next?.qr ?? '', NUMBER)).toBe(true);
    expect(await process.sessions.status(ACCOUNT)).toMatchObject({ status: 'connected' });
  });

  test('sees the codes of two channels side by side, each for its own channel', async () => {
    const { world, scanner, process, connect } = await open();
    const other = opened(await start(world, scanner, { channel: 'other' }));
    await connect();
    await other.sessions.connect(ACCOUNT);
    await settled();
    const code = scanner.codes.find(({ channel }) => channel === 'other');
    await scanner.scan(code?.qr ?? '', NUMBER);
    expect((await other.sessions.status(ACCOUNT)).status).toBe('connected');
    expect((await process.sessions.status(ACCOUNT)).status).toBe('created');
  });
});

describe('a linked sandbox number', () => {
  test('is connected again after a restart, without a scan', async () => {
    const { world, process, send } = await openLinked();
    await process.stop();
    const next = opened(await start(world, new SandboxScanner()));
    expect(await next.sessions.status(ACCOUNT)).toMatchObject({ status: 'connected', number: NUMBER });
    expect(await send).toBeDefined();
  });

  test('shows texts on the phone of their recipient', async () => {
    const { world, process, send, status } = await openLinked();
    const heard: string[] = [];
    process.feed.listen(({ to }) => heard.push(to));
    const id = await send(TO);
    expect(await status(id)).toBe('delivered');
    expect(await world.storage.store(PhoneStore).messages(TO)).toEqual([
      {
        messageId: id,
        channel: 'msgapp',
        from: NUMBER,
        to: TO,
        text: 'Bonjour',
        media: undefined,
        receivedAt: expect.any(Number),
      },
    ]);
    expect(heard).toEqual([TO]);
  });

  test('shows the delivery of a file, from its own bytes', async () => {
    const { world, process } = await openLinked();
    process.fetcher.answer = async () => ({
      contentType: 'application/pdf',
      fileName: 'a.pdf',
      body: (async function* () {
        yield PDF;
      })(),
    });
    await process.service.sendMedia(ACCOUNT, { to: TO, mediaUrl: 'https://x.example/a.pdf', caption: 'Lis ça' });
    await world.pass(1000, 50);
    const sha256 = createHash('sha256').update(PDF).digest('hex');
    expect((await world.storage.store(PhoneStore).messages(TO))[0]).toMatchObject({
      text: '',
      media: { type: 'document', mimetype: 'application/pdf', size: PDF.length, sha256, caption: 'Lis ça' },
    });
  });

  test.each([
    ['22675990001', 'failed', 1000],
    ['22675990002', 'delivered', 999],
    ['22675990003', 'unknown', 999],
    ['22675990004', 'undelivered', 999],
  ])('to %s ends as %s', async (to, outcome, balance) => {
    const { world, send, status } = await openLinked();
    const id = await send(to);
    await world.pass(to.endsWith('3') ? 12_000 : 5000);
    expect([await status(id), await world.balance(), await world.books()]).toEqual([outcome, balance, []]);
    expect(await world.storage.store(PhoneStore).messages(to)).toHaveLength(outcome === 'delivered' ? 1 : 0);
  });

  test('does not rest between messages', async () => {
    const { world, process, status } = await openLinked();
    const sends = Array.from({ length: 20 }, () => process.service.sendText(ACCOUNT, { to: TO, body: 'x' }));
    const ids = (await Promise.all(sends)).map(({ messageID }) => messageID);
    await world.pass(1000, 25);
    expect(await Promise.all(ids.map(status))).toEqual(Array(20).fill('delivered'));
  });

  test('tries again if the phones’ database is unavailable', async () => {
    const { world, send, status } = await openLinked();
    const phones = world.storage.store(PhoneStore);
    const receive = phones.receive.bind(phones);
    phones.receive = async () => {
      throw new StorageUnavailableError('away');
    };
    const id = await send(TO);
    expect(await status(id)).toBe('sending');
    phones.receive = receive;
    await world.pass(3000);
    expect(await status(id)).toBe('delivered');
  });
});
