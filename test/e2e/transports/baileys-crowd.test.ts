import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';
import { TestSession } from '../../support/transports/whatsapp/test-session.js';
import { WhatsappPeer } from '../../support/transports/whatsapp/whatsapp-peer.js';

const SESSIONS = 12;
/** How many are linked or resumed at a time. Each makes some 800 keys at its first login. */
const AT_A_TIME = 4;

let peer: WhatsappPeer;
let transport: BaileysMsgappTransport;

beforeAll(async () => {
  peer = await WhatsappPeer.start();
  transport = new BaileysMsgappTransport({ waWebSocketUrl: peer.url, ca: peer.ca });
  await transport.start();
});

afterAll(async () => {
  await transport.stop();
  await peer.stop();
});

test(`${SESSIONS} numbers live in one process, and all come back without a code`, async () => {
  const phones = Array.from({ length: SESSIONS }, (_, index) =>
    peer.phone(`226700010${String(index).padStart(2, '0')}`),
  );
  const sessions = phones.map(({ number }) => new TestSession(transport, number));
  for (let first = 0; first < SESSIONS; first += AT_A_TIME) {
    await Promise.all(
      sessions.slice(first, first + AT_A_TIME).map((session) => session.linkTo(peer.phone(session.id))),
    );
  }
  const round = (text: string) =>
    Promise.all(
      sessions.map((session, at) => session.send(peer.phone(phones[(at + 1) % SESSIONS]?.number ?? ''), text)),
    );

  expect((await round('Un')).map(({ kind }) => kind)).toEqual(phones.map(() => 'sent'));
  expect(peer.openConnections).toBe(SESSIONS);
  await Promise.all(sessions.map((session) => session.close()));
  expect(peer.openConnections).toBe(0);

  // As the session manager does it: one after the other, not all at once.
  for (let first = 0; first < SESSIONS; first += AT_A_TIME) {
    await Promise.all(sessions.slice(first, first + AT_A_TIME).map((session) => session.resume()));
  }
  expect((await round('Deux')).map(({ kind }) => kind)).toEqual(phones.map(() => 'sent'));
  expect(phones.map(({ inbox }) => inbox.map(({ text }) => text))).toEqual(phones.map(() => ['Un', 'Deux']));
  expect(peer.complaints).toEqual([]);
  await Promise.all(sessions.map((session) => session.close()));
}, 300_000);
