import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import * as library from 'baileys';
import {
  type BaileysEventMap,
  Curve,
  initAuthCreds,
  makeWASocket,
  type SocketConfig,
  WA_CERT_DETAILS,
  type WASocket,
} from 'baileys';
import { verifyKeySignatures } from '../../../../src/transports/baileys/key-signatures.js';
import { until } from '../../../support/common/until.js';
import { WhatsappPeer } from '../../../support/transports/whatsapp/whatsapp-peer.js';

const logger: SocketConfig['logger'] = {
  level: 'silent',
  child: () => logger,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Baileys as it is installed, with its credentials in memory. */
class BareClient {
  private readonly creds = initAuthCreds();
  private readonly values = new Map<string, unknown>();
  private updates: BaileysEventMap['connection.update'][] = [];
  socket: WASocket | undefined;

  constructor(private readonly url: string) {}

  connect(): WASocket {
    this.updates = [];
    const socket = makeWASocket({
      waWebSocketUrl: this.url,
      logger,
      emitOwnEvents: false,
      auth: {
        creds: this.creds,
        keys: {
          get: (type, ids) =>
            Object.fromEntries(
              ids.map((id) => [id, this.values.get(`${type}/${id}`)]).filter(([, value]) => value != null),
            ),
          set: (data) => {
            for (const [type, byId] of Object.entries(data)) {
              for (const [id, value] of Object.entries(byId)) this.values.set(`${type}/${id}`, value);
            }
          },
        },
      },
    });
    socket.ev.on('connection.update', (update) => this.updates.push(update));
    this.socket = socket;
    return socket;
  }

  saw<T>(pick: (update: BaileysEventMap['connection.update']) => T | undefined): Promise<T> {
    return until(() => this.updates.map(pick).find((found) => found !== undefined)) as Promise<T>;
  }

  closed(): Promise<number> {
    return this.saw(({ connection, lastDisconnect }) => {
      const error = lastDisconnect?.error;
      return connection === 'close' && error && 'output' in error
        ? (error.output as { statusCode: number }).statusCode
        : undefined;
    });
  }
}

let peer: WhatsappPeer;

beforeAll(() => verifyKeySignatures(library));

beforeEach(async () => {
  peer = await WhatsappPeer.start();
});

afterEach(() => peer.stop());

test('links the library, which verifies signatures, receives its text and answers it', async () => {
  const client = new BareClient(peer.url);
  client.connect();
  const phone = peer.phone('22670000001');
  const friend = peer.phone('22670000002');
  await phone.scan(await client.saw(({ qr }) => qr));
  expect(await client.closed()).toBe(515);

  const socket = client.connect();
  await client.saw(({ connection }) => (connection === 'open' ? true : undefined));
  await socket.sendMessage(friend.jid, { text: 'Bonjour' });
  const first = await until(() => friend.inbox[0]);
  expect(first).toMatchObject({ text: 'Bonjour', sealedAs: 'pkmsg', sender: { phone: { number: phone.number } } });

  const answered = new Promise((resolve) => socket.ev.on('messages.upsert', resolve));
  await friend.sendText(phone.number, 'Bonsoir');
  expect(await answered).toMatchObject({ messages: [{ message: { conversation: 'Bonsoir' } }] });
  await socket.sendMessage(friend.jid, { text: 'Encore' });
  expect(await until(() => friend.inbox[1])).toMatchObject({ text: 'Encore', sealedAs: 'msg' });
  expect(phone.copies.map(({ text }) => text)).toEqual(['Bonjour', 'Encore']);
  await socket.end(undefined);
  expect(peer.complaints).toEqual([]);
});

test('is refused by a library that checks signatures and does not know its root', async () => {
  Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(Curve.generateKeyPair().public) });
  const client = new BareClient(peer.url);
  client.connect();
  expect(await client.closed()).toBe(400);
});

test('accepts no code of another connection', async () => {
  const [one, two] = [new BareClient(peer.url), new BareClient(peer.url)];
  const sockets = [one.connect(), two.connect()];
  const [mine, other] = [await one.saw(({ qr }) => qr), await two.saw(({ qr }) => qr)];
  const ref = (qr: string) => qr.split('#')[1]?.split(',')[0] ?? '';
  await expect(peer.phone('22670000001').scan(mine.replace(ref(mine), ref(other)))).rejects.toThrow(
    'another noise key',
  );
  await Promise.all(sockets.map((socket) => socket.end(undefined)));
});
