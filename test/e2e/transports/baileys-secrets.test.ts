import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';
import { OutputCapture } from '../../support/common/output-capture.js';
import { until } from '../../support/common/until.js';
import { mend } from '../../support/transports/whatsapp/faults.js';
import { TestSession } from '../../support/transports/whatsapp/test-session.js';
import { WhatsappPeer } from '../../support/transports/whatsapp/whatsapp-peer.js';

const OWNER = '22670000001';
const FRIEND = '22670000002';
const TEXT = 'Votre code est 4711, ne le donnez à personne';

let peer: WhatsappPeer;

beforeAll(async () => {
  peer = await WhatsappPeer.start('all');
});

afterAll(() => peer.stop());

async function transport(): Promise<BaileysMsgappTransport> {
  const made = new BaileysMsgappTransport({
    waWebSocketUrl: peer.url,
    ca: peer.ca,
    // More than an answer takes on a machine with ten times the load.
    queryTimeoutMs: 2000,
    ackTimeoutMs: 1500,
  });
  await made.start();
  return made;
}

/** All texts of strings and numbers in a stored value that are long enough to be recognised. */
function secretsIn(stored: string): string[] {
  const found: string[] = [];
  JSON.parse(stored, (_, value) => {
    if (typeof value === 'string' && value.length >= 20)
      found.push(value, Buffer.from(value, 'base64').toString('hex'));
    return value;
  });
  return found;
}

test('no code, key, number or text is printed, whatever happens to a session', async () => {
  const output = new OutputCapture();
  const codes: string[] = [];
  let printed: string;
  const friend = peer.phone(FRIEND);
  const session = new TestSession(await transport());
  try {
    await session.open();
    codes.push((await session.hears('qr')).qr);
    await peer.phone(OWNER).scan(codes[0] ?? '');
    await session.end();
    await session.resume();
    await session.send(friend, TEXT);
    await friend.sendText(OWNER, `${TEXT} !`);
    peer.faults.ackError = 463;
    await session.send(friend, TEXT);
    mend(peer.faults);
    peer.faults.held.add('usync/usync');
    await session.send(peer.phone('22670000003'), TEXT);
    await session.link.exists(FRIEND);
    mend(peer.faults);
    await session.link.close();
    // Another process knows nobody's devices: it starts new Signal sessions, and logs the end of the old ones.
    const later = new TestSession(await transport());
    later.takeOver(session);
    await later.resume();
    await later.send(friend, TEXT);
    peer.connectionsOf(OWNER)[0]?.sendGarbage();
    await later.end();
    await later.resume();
    peer.phone(OWNER).unlink();
    await later.end();
    await later.close();
    await until(() => peer.openConnections === 0);
  } finally {
    printed = output.stop();
  }
  expect(friend.inbox.length).toBeGreaterThanOrEqual(2);
  const stored = [...session.credentials.values.values()].filter((value) => value.startsWith('{'));
  const secrets = new Set([...codes, ...codes.flatMap((code) => code.split(/[#,]/)), ...stored.flatMap(secretsIn)]);
  expect(secrets.size).toBeGreaterThan(1000);
  expect([...secrets].filter((secret) => secret.length >= 20 && printed.includes(secret))).toEqual([]);
  for (const word of ['privKey', 'SessionEntry', 'Closing session', TEXT, OWNER, FRIEND]) {
    expect(printed).not.toContain(word);
  }
});
