import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { LinkEvent } from '../../../src/msgapp/msgapp-transport.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { hesitant, isMoveTo } from '../../support/msgapp/hesitant-sessions.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

const NUMBER = '22670000000';
const opened = closeAfterEach();
const cut: LinkEvent = { kind: 'ended', end: { next: 'retry', reason: 'cut' } };
const open: LinkEvent = { kind: 'open', number: NUMBER };

beforeAll(() => Logger.overrideLogger(false));

async function openLinked() {
  const world = await MsgappFixture.open();
  const transport = new ScriptedTransport();
  const process = opened(await new MsgappProcess(world, transport).start());
  const id = await linked(process, NUMBER);
  return { world, transport, process, id, link: transport.last() };
}

/** Like `openLinked`, on its second connection. The first one still reports. */
async function reopened() {
  const all = await openLinked();
  await all.link.say(cut);
  await all.world.pass(2000);
  await all.transport.last().say(open);
  return { ...all, old: all.link, link: all.transport.last() };
}

describe('an older connection', () => {
  test.each<[string, LinkEvent]>([
    ['ends again', cut],
    ['gives the session up', { kind: 'ended', end: { next: 'give-up', status: 'banned', reason: 'old' } }],
    ['shows a code', { kind: 'qr', qr: 'old', expiresAt: Number.MAX_SAFE_INTEGER }],
    ['links another number', { kind: 'linked', number: '22679999999' }],
    ['opens', { kind: 'open', number: '22679999999' }],
  ])('is ignored if it %s', async (_, event) => {
    const { world, process, transport, id, old, link } = await reopened();
    await old.say(event);
    await world.pass(120_000, 5000);
    expect([await world.status(id), transport.links.length, link.closed]).toEqual(['connected', 2, 0]);
    expect(await process.sessions.status(ACCOUNT)).toMatchObject({ status: 'connected', number: NUMBER });
    expect(process.sessions.linkOf(id)).toBe(link);
  });

  test('is reconnected once if it ends twice in the same turn', async () => {
    const { world, transport, link } = await openLinked();
    for (let time = 0; time < 20; time++) void link.say(cut);
    await world.pass(10_000);
    expect([transport.links.length, transport.peak]).toEqual([2, 1]);
  });

  test('is never used if it opens and ends in the same turn', async () => {
    const { world, process, transport, id, link } = await openLinked();
    await link.say(cut);
    await world.pass(2000);
    void transport.last().say(open);
    void transport.last().say(cut);
    expect(process.sessions.linkOf(id)).toBeUndefined();
    await settled();
    expect(process.sessions.linkOf(id)).toBeUndefined();
    expect(await process.sessions.status(ACCOUNT)).toMatchObject({ status: 'reconnecting' });
  });

  test('is closed before the next one is opened, however long that takes', async () => {
    const { world, transport, link } = await openLinked();
    let release: () => void = () => undefined;
    transport.closing = new Promise((resolve) => {
      release = resolve;
    });
    await link.say(cut);
    await world.pass(8000);
    expect([transport.links.length, link.closed]).toEqual([1, 1]);
    release();
    await world.pass(2000);
    expect([transport.links.length, link.closed, transport.peak]).toEqual([2, 1, 1]);
  });

  test('is closed if it finishes opening late, and not used', async () => {
    const { world, process, transport, id, link } = await openLinked();
    let release: () => void = () => undefined;
    transport.opening = new Promise((resolve) => {
      release = resolve;
    });
    await link.say(cut);
    await world.pass(2000);
    const late = transport.last();
    transport.opening = Promise.resolve();
    await world.pass(60_000, 1000);
    const link3 = transport.last();
    await link3.say(open);
    expect(link3).not.toBe(late);
    release();
    await settled();
    expect([late.closed, process.sessions.linkOf(id)]).toEqual([1, link3]);
  });
});

describe('a transport that does not start', () => {
  const fault = () => new Error('no library');

  test('is started again when it is needed later; until then callers get the failure', async () => {
    const world = await MsgappFixture.open();
    const transport = new ScriptedTransport();
    transport.startFaults.push(fault(), fault());
    // As in a process that does not send, in which only a request starts the transport.
    const process = opened(new MsgappProcess(world, transport));
    const connect = () =>
      process.sessions.connect(ACCOUNT).then(
        () => 'connected',
        (error: unknown) => String(error),
      );
    const crowd = () => Promise.all(Array.from({ length: 50 }, connect));
    expect([new Set(await crowd()), transport.started]).toEqual([new Set(['Error: no library']), 1]);
    world.clock.advance(999);
    expect([new Set(await crowd()), transport.started]).toEqual([new Set(['Error: no library']), 1]);
    world.clock.advance(1);
    expect([await connect(), transport.started]).toEqual(['Error: no library', 2]);
    // Twice as long after the second failure.
    world.clock.advance(1999);
    expect([await connect(), transport.started]).toEqual(['Error: no library', 2]);
    world.clock.advance(1);
    expect([await connect(), await connect(), transport.started]).toEqual(['connected', 'connected', 3]);
    await process.stop();
    expect(transport.stopped).toBe(1);
  });

  test('is tried at least once a minute, however often it has failed, and not stopped if it never started', async () => {
    const world = await MsgappFixture.open();
    const transport = new ScriptedTransport();
    transport.startFaults.push(...Array.from({ length: 20 }, fault));
    const process = opened(new MsgappProcess(world, transport));
    for (let round = 1; round <= 20; round++) {
      await expect(process.sessions.connect(ACCOUNT)).rejects.toThrow('no library');
      expect(transport.started).toBe(round);
      world.clock.advance(60_000);
    }
    await process.stop();
    expect(transport.stopped).toBe(0);
  });
});

describe('simultaneous calls', () => {
  test('fifty starts of one session open one connection', async () => {
    const { world, transport, process, id, link } = await openLinked();
    const session = process.sessions.find(id);
    for (let time = 0; time < 50; time++) void session?.start();
    await link.say(cut);
    for (let time = 0; time < 50; time++) void session?.start();
    await world.pass(5000);
    for (let time = 0; time < 50; time++) void session?.start();
    await settled();
    expect([transport.links.length, transport.peak]).toEqual([2, 1]);
  });

  test('fifty looks for sessions that wait to be resumed open each of them once', async () => {
    const { world, process, id } = await openLinked();
    await process.stop();
    const transport = new ScriptedTransport();
    const next = opened(new MsgappProcess(world, transport));
    await Promise.all(Array.from({ length: 50 }, () => next.sessions.start()));
    await world.pass(5000);
    expect([transport.of(id).length, transport.peak, transport.started]).toEqual([1, 1, 1]);
  });

  test('if ten processes look for a session at once, one gets it', async () => {
    const { world, process, id } = await openLinked();
    await process.stop();
    const transports = Array.from({ length: 10 }, () => new ScriptedTransport());
    const processes = transports.map((transport) => opened(new MsgappProcess(world, transport)));
    await Promise.all(processes.map(({ sessions }) => sessions.start()));
    await world.pass(5000);
    expect(transports.map((transport) => transport.of(id).length).sort()).toEqual([...Array(9).fill(0), 1]);
  });

  test('fifty connects over two processes are ten sessions with tokens of their own, and forty refusals', async () => {
    const { world, process, transport } = await openLinked();
    const other = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
    const asked = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => (index % 2 ? process : other).sessions.connect(ACCOUNT)),
    );
    await world.pass(1000);
    const made = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(new Set(made.map(({ qrToken }) => qrToken)).size).toBe(10);
    for (const { sessionID } of made) expect(await world.status(sessionID)).toBe('created');
    const refusals = asked.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refusals).toHaveLength(40);
    for (const each of refusals) {
      expect(each).toMatchObject({ code: 'error.msgapp_too_many_sessions', retryAfter: 180 });
    }
    const links = [...transport.links, ...other.transport.links];
    expect(links.filter(({ isUp }) => isUp)).toHaveLength(11);
    await world.pass(180_000, 10_000);
    await expect(process.sessions.connect(ACCOUNT)).resolves.toMatchObject({ status: 'created' });
  });

  test('connects of one account are made one after the other, and a caller that leaves meanwhile makes none', async () => {
    const world = await MsgappFixture.open();
    const gate = new Gate();
    let making = 0;
    const sessions = hesitant(world.storage.store(SessionStore), async (method) => {
      if (method !== 'create') return;
      making++;
      await gate.opened;
    });
    const process = opened(await new MsgappProcess(world, new ScriptedTransport(), {}, sessions).start());
    const leaving = new AbortController();
    const left = process.sessions.connect(ACCOUNT);
    const gone = expect(process.sessions.connect(ACCOUNT, leaving.signal)).rejects.toThrow('left');
    const others = ['acc2', 'acc2', ACCOUNT].map((id) => process.sessions.connect(id));
    await settled();
    expect(making).toBe(2);
    leaving.abort(new Error('left'));
    await gone;
    gate.open();
    await Promise.all([left, ...others]);
    expect(making).toBe(4);
  });

  test('log-outs and ends at once cause one final step', async () => {
    const { world, process, id, link } = await openLinked();
    await Promise.all([
      process.sessions.logout(ACCOUNT, id),
      link.say({ kind: 'ended', end: { next: 'give-up', status: 'logged_out', reason: 'unlinked' } }),
      process.sessions.logout(ACCOUNT, id),
    ]);
    const end = expect.stringMatching(/^logged_out: (logout|unlinked)$/);
    expect(await world.steps(id)).toEqual(['created: requested', 'connected: linked', end]);
  });

  test('a session that is scanned while it is being ended is opened again, not lost', async () => {
    const world = await MsgappFixture.open();
    const gate = new Gate();
    const sessions = hesitant(world.storage.store(SessionStore), async (method, args) => {
      if (method === 'move' && isMoveTo(args, 'connected')) await gate.opened;
    });
    const transport = new ScriptedTransport();
    const process = opened(await new MsgappProcess(world, transport, {}, sessions).start());
    const { sessionID: id } = await process.sessions.connect(ACCOUNT);
    await settled();
    const scanned = transport.last().say(open);
    await settled();
    const ended = process.sessions.find(id)?.end({ kind: 'end', status: 'expired', reason: 'too_late' });
    gate.open();
    await Promise.all([scanned, ended]);
    transport.onOpen = (link) => void link.say(open);
    await world.pass(15_000, 1000);
    expect(await world.steps(id)).toEqual([
      'created: requested',
      'connected: linked',
      'reconnecting: too_late',
      'connected: reconnected',
    ]);
    expect([transport.links.length, transport.peak]).toEqual([2, 1]);
  });
});
