import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { LinkEnd } from '../../../src/msgapp/msgapp-transport.js';
import { CredentialsUnreadableError } from '../../../src/msgapp/sessions/credential-cipher.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000000';
const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

async function open() {
  const world = await MsgappFixture.open();
  const transport = new ScriptedTransport();
  const process = opened(await new MsgappProcess(world, transport).start());
  return { world, transport, process };
}

async function openLinked() {
  const all = await open();
  const id = await linked(all.process, NUMBER);
  return { ...all, id, link: all.transport.last() };
}

const shown = async (process: MsgappProcess) => (await process.sessions.status(ACCOUNT)).status;
const ended = (end: LinkEnd) => ({ kind: 'ended', end }) as const;
const retry: LinkEnd = { next: 'retry', reason: 'cut' };

describe('a linked session', () => {
  test('is created, then connected with its number, and shows when and why', async () => {
    const { world, process } = await open();
    expect(await process.sessions.status(ACCOUNT)).toEqual({ status: 'disconnected', sessions: [] });
    const id = await linked(process, NUMBER);
    expect(await world.steps(id)).toEqual(['created: requested', 'connected: linked']);
    const at = new Date(world.clock.now()).toISOString();
    const session = { sessionID: id, status: 'connected', number: NUMBER };
    expect(await process.sessions.status(ACCOUNT)).toEqual({
      ...session,
      sessions: [{ ...session, created_at: at, connected_at: at, reason: 'linked' }],
    });
  });

  test('restarts at once with the same credentials, as pairing requires, without ever looking connected', async () => {
    const { world, process, transport } = await open();
    const { sessionID: id } = await process.sessions.connect(ACCOUNT);
    await settled();
    expect(transport.last().order).toMatchObject({ sessionId: id, channel: 'msgapp', linked: false });
    await transport.last().say({ kind: 'linked', number: NUMBER });
    await transport.last().say(ended({ next: 'restart', reason: 'paired' }));
    await settled();
    expect([transport.links.length, transport.links[0]?.closed, transport.last().order.linked]).toEqual([2, 1, true]);
    expect(await shown(process)).toBe('created');
    await transport.last().say({ kind: 'open', number: NUMBER });
    expect([await shown(process), await world.status(id)]).toEqual(['connected', 'connected']);
    expect(await world.steps(id)).toEqual(['created: requested', 'connected: linked']);
  });

  test('is reconnecting from the moment its connection ends, before anything is stored, and comes back', async () => {
    const { world, process, transport, id, link } = await openLinked();
    void link.say(ended(retry));
    expect(await shown(process)).toBe('reconnecting');
    await settled();
    expect(await world.status(id)).toBe('reconnecting');
    await world.pass(2000);
    expect(transport.links).toHaveLength(2);
    expect(transport.last().order.linked).toBe(true);
    await transport.last().say({ kind: 'open', number: NUMBER });
    expect(await world.steps(id)).toEqual([
      'created: requested',
      'connected: linked',
      'reconnecting: cut',
      'connected: reconnected',
    ]);
    expect(await shown(process)).toBe('connected');
  });

  test.each(['expired', 'logged_out', 'replaced', 'banned', 'failed'] as const)(
    'ends permanently as %s before the scan if its connection gives up',
    async (status) => {
      const { world, process, transport } = await open();
      const { sessionID: id } = await process.sessions.connect(ACCOUNT);
      await settled();
      await transport.last().say(ended({ next: 'give-up', status, reason: 'why' }));
      await world.pass(600_000, 10_000);
      expect(await world.steps(id)).toEqual(['created: requested', `${status}: why`]);
      expect([transport.links.length, transport.last().closed, await shown(process)]).toEqual([1, 1, status]);
    },
  );

  test.each(['logged_out', 'replaced', 'banned', 'failed'] as const)(
    'ends as %s if its connection gives up: no further connection, no credentials',
    async (status) => {
      const { world, process, transport, id, link } = await openLinked();
      await link.order.credentials.write([{ kind: 'creds', id: 'main', value: 'secret' }]);
      await link.say(ended({ next: 'give-up', status, reason: 'why' }));
      await world.pass(600_000, 10_000);
      expect([await world.status(id), await shown(process), transport.links.length]).toEqual([status, status, 1]);
      expect(await world.storage.store(SessionStore).credentials(id, 'creds', ['main'])).toEqual(new Map());
      expect(process.sessions.sessions).toEqual([]);
    },
  );

  test('has failed after a few ends that may be permanent, and not before', async () => {
    const { world, transport, id, link } = await openLinked();
    const bad = ended({ next: 'retry-few', reason: 'bad_session' });
    transport.onOpen = (each) => void each.say(bad);
    await link.say(bad);
    await eventually(
      () => transport.links.length,
      (count) => count === 7,
      { clock: world.clock },
    );
    expect(await world.status(id)).toBe('reconnecting');
    await world.pass(600_000, 10_000);
    expect([await world.status(id), transport.links.length]).toEqual(['failed', 8]);
    expect((await world.steps(id)).at(-1)).toBe('failed: bad_session');
  });

  describe('whose credentials cannot be decrypted', () => {
    /** Each further connection reads them first, and treats a failure as temporary. */
    async function openUnreadable(why: 'damaged' | 'unknown_key') {
      const all = await openLinked();
      const { process, transport, link } = all;
      process.vault.fault = new CredentialsUnreadableError(why, 'A credential of this session cannot be decrypted.');
      transport.onOpen = (each) => {
        const read = each.order.credentials.read('creds', ['main']);
        read
          .then(() => each.say({ kind: 'open', number: NUMBER }))
          .catch(() => each.say(ended({ next: 'retry', reason: 'unread' })));
      };
      await link.say(ended(retry));
      return all;
    }

    test('has failed at once if they are damaged', async () => {
      const { world, transport, id } = await openUnreadable('damaged');
      await world.pass(600_000, 10_000);
      expect((await world.steps(id)).slice(2)).toEqual(['reconnecting: cut', 'failed: credentials_unreadable']);
      expect(transport.links).toHaveLength(2);
    });

    test('has failed after some minutes if their key is missing', async () => {
      const { world, transport, id } = await openUnreadable('unknown_key');
      await world.pass(60_000, 1000);
      expect(await world.status(id)).toBe('reconnecting');
      await world.pass(600_000, 10_000);
      expect((await world.steps(id)).slice(2)).toEqual(['reconnecting: cut', 'failed: credentials_unreadable']);
      expect(transport.links).toHaveLength(9);
    });

    test('goes on if the key is put back in time', async () => {
      const { world, process, id } = await openUnreadable('unknown_key');
      await world.pass(30_000, 1000);
      process.vault.fault = undefined;
      await world.pass(60_000, 1000);
      expect([await world.status(id), (await world.steps(id)).length]).toEqual(['connected', 4]);
    });

    test('fails even while it is connected', async () => {
      const { world, process, id, link } = await openLinked();
      process.vault.fault = new CredentialsUnreadableError('damaged', 'A credential cannot be decrypted.');
      await expect(link.order.credentials.read('session', ['peer'])).rejects.toThrow(CredentialsUnreadableError);
      await settled();
      expect((await world.steps(id)).at(-1)).toBe('failed: credentials_unreadable');
      expect(link.closed).toBe(1);
    });
  });

  test('treats a connection that cannot even be opened like any other end', async () => {
    const { world, transport, id, link } = await openLinked();
    transport.opening = Promise.reject(new TypeError('no network'));
    transport.opening.catch(() => undefined);
    await link.say(ended(retry));
    await world.pass(10_000);
    const tries = transport.links.length;
    expect(tries).toBeGreaterThan(2);
    transport.opening = Promise.resolve();
    transport.onOpen = (each) => void each.say({ kind: 'open', number: NUMBER });
    await world.pass(60_000, 1000);
    expect([await world.status(id), transport.links.length]).toEqual(['connected', tries + 1]);
  });
});

describe('a silent server', () => {
  test('is asked again if it sends neither a code nor an opening nor an end', async () => {
    const { world, process, transport } = await open();
    await process.sessions.connect(ACCOUNT);
    await world.pass(29_900);
    expect(transport.links).toHaveLength(1);
    await world.pass(2000);
    expect([transport.links.length, transport.links[0]?.closed]).toEqual([2, 1]);
  });

  test('is asked again if a code expired without a further one', async () => {
    const { world, process, transport } = await open();
    await process.sessions.connect(ACCOUNT);
    await settled();
    await transport.last().say({ kind: 'qr', qr: 'q1', expiresAt: world.clock.now() + 60_000 });
    await world.pass(89_000, 1000);
    expect(transport.links).toHaveLength(1);
    await world.pass(3000);
    expect(transport.links).toHaveLength(2);
  });

  test('is asked again in time if the clock is set back by an hour, before a code and after one', async () => {
    const { world, process, transport } = await open();
    const { sessionID: id } = await process.sessions.connect(ACCOUNT);
    await settled();
    world.clock.setBack(3_600_000);
    await world.pass(29_000, 1000);
    expect(transport.links).toHaveLength(1);
    await world.pass(4000);
    expect(transport.links).toHaveLength(2);
    await transport.last().say({ kind: 'qr', qr: 'q1', expiresAt: world.clock.now() + 60_000 });
    world.clock.setBack(3_600_000);
    await world.pass(89_000, 1000);
    expect(transport.links).toHaveLength(2);
    await world.pass(5000);
    expect(transport.links).toHaveLength(3);
    await world.pass(60_000, 1000);
    expect(await world.steps(id)).toEqual(['created: requested', 'expired: not_scanned']);
  });

  test('is asked again forever about a linked session', async () => {
    const { world, transport, id, link } = await openLinked();
    await link.say(ended(retry));
    await world.pass(3_600_000, 5000);
    expect(await world.status(id)).toBe('reconnecting');
    expect(transport.links.length).toBeGreaterThan(30);
    expect(transport.peak).toBe(1);
  });

  test('is not our business once the connection is open', async () => {
    const { world, transport, id } = await openLinked();
    await world.pass(3_600_000, 5000);
    expect([await world.status(id), transport.links.length]).toEqual(['connected', 1]);
  });
});

describe('a code that nobody scans', () => {
  test('ends the session after the full time, whatever the server still shows', async () => {
    const { world, process, transport } = await open();
    const { sessionID: id, expires_at } = await process.sessions.connect(ACCOUNT);
    expect(Date.parse(expires_at)).toBe(world.clock.now() + 180_000);
    for (let shown = 0; shown < 8; shown++) {
      await settled();
      await transport.last().say({ kind: 'qr', qr: `q${shown}`, expiresAt: world.clock.now() + 20_000 });
      await world.pass(20_000, 5000);
    }
    expect(await world.status(id)).toBe('created');
    await world.pass(20_000, 1000);
    expect(await world.steps(id)).toEqual(['created: requested', 'expired: not_scanned']);
    expect([transport.links.length, transport.last().closed]).toEqual([1, 1]);
  });

  test('ends it even if no connection is established', async () => {
    const { world, process, transport } = await open();
    transport.onOpen = (link) => void link.say(ended(retry));
    const { sessionID: id } = await process.sessions.connect(ACCOUNT);
    await world.pass(179_000, 500);
    expect(await world.status(id)).toBe('created');
    const tries = transport.links.length;
    expect(tries).toBeLessThan(12);
    await world.pass(120_000, 1000);
    expect([await world.status(id), transport.links.length]).toEqual(['expired', tries]);
  });

  test('that was scanned at the last moment gets its time to open', async () => {
    const { world, process, transport } = await open();
    const { sessionID: id } = await process.sessions.connect(ACCOUNT);
    await settled();
    await transport.last().say({ kind: 'qr', qr: 'q', expiresAt: world.clock.now() + 180_000 });
    await world.pass(179_900, 1000);
    await transport.last().say({ kind: 'linked', number: NUMBER });
    await world.pass(20_000);
    await transport.last().say({ kind: 'open', number: NUMBER });
    expect(await world.status(id)).toBe('connected');
  });

  test('that was scanned and never opens makes the session fail', async () => {
    const { world, process, transport } = await open();
    const { sessionID: id } = await process.sessions.connect(ACCOUNT);
    await settled();
    await transport.last().say({ kind: 'linked', number: NUMBER });
    await world.pass(180_000, 1000);
    expect(await world.steps(id)).toEqual(['created: requested', 'failed: pairing_timeout']);
  });
});

describe('log-out', () => {
  test('unlinks the number, deletes the credentials and is final', async () => {
    const { world, process, transport, id, link } = await openLinked();
    await link.order.credentials.write([{ kind: 'creds', id: 'main', value: 'secret' }]);
    await process.sessions.logout(ACCOUNT, id);
    expect([link.loggedOut, await world.status(id)]).toEqual([1, 'logged_out']);
    expect(await world.storage.store(SessionStore).credentials(id, 'creds', ['main'])).toEqual(new Map());
    await process.sessions.logout(ACCOUNT, id);
    await world.pass(600_000, 10_000);
    expect([link.loggedOut, transport.links.length]).toEqual([1, 1]);
  });

  test('works while the session waits to connect again, and before the scan', async () => {
    const { world, process, transport, id, link } = await openLinked();
    await link.say(ended(retry));
    await process.sessions.logout(ACCOUNT, id);
    const other = await process.sessions.connect(ACCOUNT);
    await settled();
    await process.sessions.logout(ACCOUNT, other.sessionID);
    expect([await world.status(id), await world.status(other.sessionID)]).toEqual(['logged_out', 'logged_out']);
    await world.pass(600_000, 10_000);
    expect(transport.links).toHaveLength(2);
  });

  test('of somebody else’s session, or of none, is not found', async () => {
    const { world, process, id } = await openLinked();
    const find = jest.spyOn(world.storage.store(SessionStore), 'find');
    for (const [account, session] of [
      ['acc2', id],
      [ACCOUNT, 'nothing'],
      [ACCOUNT, '\0'],
    ] as const) {
      await expect(process.sessions.logout(account, session)).rejects.toMatchObject({
        code: 'error.session_not_found',
      });
      await expect(process.sessions.status(account, session)).rejects.toMatchObject({
        code: 'error.session_not_found',
      });
    }
    // PostgreSQL refuses NUL.
    expect(find).not.toHaveBeenCalledWith('\0');
  });

  test('does not wait for a connection that will not close', async () => {
    const { world, transport, process, id } = await openLinked();
    transport.closing = new Promise(() => undefined);
    const over = process.sessions.logout(ACCOUNT, id);
    await world.pass(11_000);
    await over;
    expect(await world.status(id)).toBe('logged_out');
  });
});
