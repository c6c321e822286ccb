import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Curve, WA_CERT_DETAILS } from 'baileys';
import { BaileysMsgappTransport, type BaileysOptions } from 'nestjs-messaging/baileys';
import type { LinkEvent } from '../../../src/msgapp/msgapp-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { until } from '../../support/common/until.js';
import { mend } from '../../support/transports/whatsapp/faults.js';
import { TestSession } from '../../support/transports/whatsapp/test-session.js';
import { WhatsappPeer } from '../../support/transports/whatsapp/whatsapp-peer.js';

const ONE = '22670000001';
const TWO = '22670000002';

let peer: WhatsappPeer;
/** Linked to ONE. Its connection is closed. */
let linked: TestSession;
const transports: BaileysMsgappTransport[] = [];
const sessions: TestSession[] = [];

beforeAll(async () => {
  peer = await WhatsappPeer.start('all');
  linked = await session(await transport(), 'linked').linkTo(peer.phone(ONE));
});

afterEach(async () => {
  mend(peer.faults);
  linked.credentials.failure = undefined;
  for (const each of sessions) await each.close();
});

afterAll(async () => {
  for (const each of transports) await each.stop();
  await peer.stop();
});

async function transport(options: BaileysOptions = {}, clock?: FakeClock): Promise<BaileysMsgappTransport> {
  const made = new BaileysMsgappTransport({ waWebSocketUrl: peer.url, ca: peer.ca, ...options }, clock);
  transports.push(made);
  await made.start();
  return made;
}

function session(over: BaileysMsgappTransport, id?: string): TestSession {
  const made = new TestSession(over, id);
  sessions.push(made);
  return made;
}

/** A session with the credentials of the linked one, which is not open. */
async function known(options?: BaileysOptions, clock?: FakeClock): Promise<TestSession> {
  const made = session(await transport(options, clock));
  made.takeOver(linked);
  return made;
}

const kinds = (events: readonly LinkEvent[]) => events.map(({ kind }) => kind);

describe('linking', () => {
  test('two numbers at once: each shows its code, is told to reconnect, and opens', async () => {
    const carrier = await transport();
    const [one, two] = [session(carrier, 'one'), session(carrier, 'two')];
    await Promise.all([one.open(), two.open()]);
    const [first, second] = await Promise.all([one.hears('qr'), two.hears('qr')]);
    expect(first.qr).not.toBe(second.qr);
    const [three, four] = [peer.phone('22670000003'), peer.phone('22670000004')];
    await Promise.all([three.scan(first.qr), four.scan(second.qr)]);
    expect(await Promise.all([one.end(), two.end()])).toEqual([
      { next: 'restart', reason: 'restart_required' },
      { next: 'restart', reason: 'restart_required' },
    ]);
    expect(kinds(one.events)).toEqual(['qr', 'linked', 'ended']);
    expect(await one.hears('linked')).toEqual({ kind: 'linked', number: three.number });
    await Promise.all([one.resume(), two.resume()]);
    expect(one.events).toEqual([{ kind: 'open', number: three.number }]);
    expect(two.events).toEqual([{ kind: 'open', number: four.number }]);
    await one.send(four, 'Bonjour');
    await two.send(three, 'Bonsoir');
    expect(four.inbox.map(({ text }) => text)).toEqual(['Bonjour']);
    expect(three.inbox.map(({ text }) => text)).toEqual(['Bonsoir']);
    expect(peer.complaints).toEqual([]);
  });

  test('stores all keys of the first login in one write, and resumes from the stored keys without a code', async () => {
    await until(() => linked.credentials.count('pre-key') === 812);
    expect(linked.credentials.writes.filter((changes) => changes >= 812)).toHaveLength(1);
    const friend = peer.phone('22670000005');
    const [first, second] = [await known(), await known()];
    await (await first.resume()).send(friend, 'Avant');
    await first.close();
    expect(peer.connectionsOf(ONE)).toEqual([]);
    await (await second.resume()).send(friend, 'Après');
    expect(friend.inbox.map(({ text }) => text)).toEqual(['Avant', 'Après']);
    expect(kinds(second.events)).not.toContain('qr');
  });

  test('remembers from one connection to the next which devices people have', async () => {
    const friend = peer.phone('22670000010');
    const open = await (await known()).resume();
    await open.send(friend, 'Un');
    await open.close();
    await open.resume();
    const asked = peer.questions.length;
    await open.send(friend, 'Deux');
    const lookUps = peer.questions.slice(asked).filter((name) => /^(usync|encrypt)/.test(name));
    expect(lookUps).toEqual([]);
    expect(friend.inbox.map(({ text }) => text)).toEqual(['Un', 'Deux']);
  });

  test('shows the next code if one has run out, and expires after the last', async () => {
    peer.faults.refs = 3;
    const shown = session(await transport({ qrTimeoutMs: 40 }));
    await shown.open();
    expect(await shown.end()).toEqual({ next: 'give-up', status: 'expired', reason: 'not_scanned' });
    expect(kinds(shown.events)).toEqual(['qr', 'qr', 'qr', 'ended']);
    expect(new Set(shown.events.map((event) => (event.kind === 'qr' ? event.qr : ''))).size).toBe(4);
  });

  test('reports until when a code can be scanned', async () => {
    const clock = new FakeClock();
    const shown = session(await transport({}, clock));
    await shown.open();
    expect(await shown.hears('qr')).toMatchObject({ expiresAt: clock.now() + 60_000 });
  });

  test('reports if the account wants a passkey', async () => {
    peer.faults.passkey = true;
    const shown = session(await transport());
    await shown.open();
    await peer.phone(TWO).scan((await shown.hears('qr')).qr);
    expect(await shown.hears('notice')).toEqual({ kind: 'notice', reason: 'passkey_required' });
  });

  test('shows no code from a server whose certificate the pinned root has not signed', async () => {
    const pinned = WA_CERT_DETAILS.PUBLIC_KEY;
    const [shown, again] = [session(await transport()), await known()];
    try {
      Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: Buffer.from(Curve.generateKeyPair().public) });
      for (const each of [shown, again]) {
        await each.open();
        expect(await each.end()).toMatchObject({ next: 'retry-few' });
        expect(kinds(each.events)).toEqual(['ended']);
      }
    } finally {
      Object.assign(WA_CERT_DETAILS, { PUBLIC_KEY: pinned });
    }
  });

  test('does not link an account whose signature is forged', async () => {
    peer.faults.forgedAccount = true;
    const shown = session(await transport());
    await shown.open();
    const scan = peer.phone('22670000011').scan((await shown.hears('qr')).qr);
    const hungUp = expect(scan).rejects.toThrow('The client is gone.');
    expect(await shown.end()).toMatchObject({ next: 'retry-few' });
    expect(kinds(shown.events)).toEqual(['qr', 'ended']);
    expect(shown.credentials.values.get('creds/creds') ?? '').not.toContain('22670000011');
    await hungUp;
  });

  test('reports nothing before the data behind it is stored', async () => {
    const slow = session(await transport());
    await slow.open();
    const { qr } = await slow.hears('qr');
    let release = () => {};
    slow.credentials.gate = new Promise((resolve) => {
      release = resolve;
    });
    try {
      await peer.phone('22670000006').scan(qr);
      await until(() => peer.openConnections === 0);
      await settled(50);
      expect(kinds(slow.events)).toEqual(['qr']);
    } finally {
      release();
    }
    await slow.end();
    expect(kinds(slow.events)).toEqual(['qr', 'linked', 'ended']);
    expect(slow.credentials.values.get('creds/creds')).toContain('22670000006');
  });
});

describe('the end of a connection', () => {
  test('after unlinking on the phone is "logged out", and so is that of the next connection', async () => {
    const phone = peer.phone('22670000007');
    const open = await session(await transport()).linkTo(phone);
    phone.unlink();
    expect(await open.end()).toEqual({ next: 'give-up', status: 'logged_out', reason: 'device_removed' });
    await open.open();
    expect(await open.end()).toEqual({ next: 'give-up', status: 'logged_out', reason: 'login_refused' });
  });

  test('after a connection elsewhere is "replaced"', async () => {
    const [first, second] = [await known(), await known()];
    await first.resume();
    await second.resume();
    expect(await first.end()).toEqual({ next: 'give-up', status: 'replaced', reason: 'replaced' });
  });

  test.each<[string, () => void, object]>([
    ['the network breaks', () => peer.connectionsOf(ONE)[0]?.cut(), { next: 'retry', reason: 'connection_closed' }],
    ['the server hangs up', () => peer.connectionsOf(ONE)[0]?.close(), { next: 'retry', reason: 'connection_closed' }],
    [
      'the stream ends with 515',
      () => peer.connectionsOf(ONE)[0]?.endStream(515),
      { next: 'restart', reason: 'restart_required' },
    ],
    [
      'the stream ends with 503',
      () => peer.connectionsOf(ONE)[0]?.endStream(503),
      { next: 'retry', reason: 'server_unavailable' },
    ],
    [
      'the stream ends with nothing known',
      () => peer.connectionsOf(ONE)[0]?.endStream(undefined),
      { next: 'retry-few', reason: 'stream_error' },
    ],
    [
      'a frame cannot be decrypted',
      () => peer.connectionsOf(ONE)[0]?.sendGarbage(),
      { next: 'retry-few', reason: 'unreadable_frame' },
    ],
  ])('%s', async (_, happens, end) => {
    const open = await (await known()).resume();
    happens();
    expect(await open.end()).toEqual(end);
    expect(await open.send(peer.phone(TWO), 'x')).toEqual({ kind: 'retry', error: 'not_open' });
    expect(await open.link.exists(TWO)).toBeUndefined();
  });

  test.each<[number, object]>([
    [402, { next: 'give-up', status: 'banned', reason: 'banned_for_a_time' }],
    [403, { next: 'give-up', status: 'banned', reason: 'forbidden' }],
    [405, { next: 'give-up', status: 'failed', reason: 'client_version_refused' }],
    [500, { next: 'retry-few', reason: 'stream_error' }],
    [503, { next: 'retry', reason: 'server_unavailable' }],
  ])('after a login that is refused with %d', async (reason, end) => {
    const refused = await known();
    peer.faults.loginFailure = reason;
    await refused.open();
    expect(await refused.end()).toEqual(end);
  });

  test.each([403, 405, 429, 503])('after an upgrade that is refused with %d', async (status) => {
    const refused = session(await transport());
    peer.faults.upgradeStatus = status;
    await refused.open();
    expect(await refused.end()).toEqual({ next: 'retry', reason: `upgrade_refused_${status}` });
  });

  test('if nobody listens: a linked number tries again, a new one only a few times', async () => {
    // The discard port: nothing listens there.
    const nowhere = { waWebSocketUrl: 'ws://127.0.0.1:9/ws/chat' };
    const resumed = await known(nowhere);
    await resumed.open();
    expect(await resumed.end()).toEqual({ next: 'retry', reason: 'connection_lost' });
    const fresh = session(await transport(nowhere));
    await fresh.open();
    expect(await fresh.end()).toEqual({ next: 'retry-few', reason: 'connection_lost' });
  });

  test('if a server sends nothing but answers pings, the connection is given up', async () => {
    // The link reads the clock for each frame that it hears. So the test moves the clock only after an answer was heard.
    let heard = 0;
    const clock = new (class extends FakeClock {
      override elapsed(): number {
        heard++;
        return super.elapsed();
      }
    })();
    peer.faults.silent = true;
    const ignored = session(await transport({ keepAliveMs: 20 }, clock));
    await ignored.open();
    for (let pings = 1; pings <= 12; pings++) {
      const before = heard;
      await until(() => heard > before);
      expect(ignored.events).toEqual([]);
      clock.advance(5000);
    }
    expect(await ignored.end()).toEqual({ next: 'retry', reason: 'no_answer' });
  });

  test('if a server has gone deaf, the connection is given up although it is still open', async () => {
    const clock = new FakeClock();
    const open = await (await known({}, clock)).resume();
    await settled();
    peer.faults.deaf = true;
    clock.advance(40_000);
    expect(await open.end()).toEqual({ next: 'retry', reason: 'silent' });
  });

  test('if keys cannot be stored, the next connection starts from the stored ones', async () => {
    const open = await (await known()).resume();
    open.credentials.failure = new Error('The session is no longer ours.');
    await open.send(peer.phone(TWO), 'x');
    expect(await open.end()).toEqual({ next: 'retry', reason: 'credentials_not_stored' });
  });

  test('of a linked session without credentials is "logged out", and nobody is asked', async () => {
    const lost = session(await transport());
    lost.pretendLinked();
    const connections = peer.connectionsMade;
    await lost.open();
    expect(await lost.end()).toEqual({ next: 'give-up', status: 'logged_out', reason: 'credentials_missing' });
    expect(peer.connectionsMade).toBe(connections);
  });
});

describe('ends from our side', () => {
  test('close keeps the number linked, log-out unlinks it; neither is reported', async () => {
    const phone = peer.phone('22670000008');
    const open = await session(await transport()).linkTo(phone);
    await open.close();
    expect(peer.devicesOf(phone.number)).toHaveLength(1);
    await open.resume();
    await open.link.logout();
    expect(peer.devicesOf(phone.number)).toHaveLength(0);
    await settled();
    expect(kinds(open.events)).toEqual(['open']);
    expect(peer.connectionsOf(phone.number)).toEqual([]);
  });

  test('log-out completes for a number whose connection is gone', async () => {
    const open = await (await known()).resume();
    peer.connectionsOf(ONE)[0]?.cut();
    await open.end();
    await open.link.logout();
    expect(peer.devicesOf(ONE)).toHaveLength(1);
  });

  test('a connection that does not close properly is cut off', async () => {
    const clock = new FakeClock();
    const open = await (await known({}, clock)).resume();
    peer.connectionsOf(ONE)[0]?.freeze();
    let closed = false;
    const closing = open.link.close().then(() => {
      closed = true;
    });
    await settled(50);
    expect(closed).toBe(false);
    clock.advance(2000);
    await closing;
  });

  test('a message that is handed over while the process stops is not sent', async () => {
    const open = await (await known()).resume();
    const signal = AbortSignal.abort();
    expect(await open.send(peer.phone(TWO), 'x', { signal })).toEqual({ kind: 'retry', error: 'not_open' });
    expect(peer.phone(TWO).inbox).toEqual([]);
  });

  test('a message on the wire when the connection breaks is unknown', async () => {
    const open = await (await known()).resume();
    const friend = peer.phone('22670000009');
    peer.faults.dropAck = true;
    peer.faults.receipts = false;
    const sending = open.send(friend, 'x');
    await until(() => friend.inbox.length === 1);
    peer.connectionsOf(ONE)[0]?.cut();
    expect(await sending).toMatchObject({ kind: 'unknown', error: 'no_ack' });
  });
});
