import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import type { LinkEvent } from '../../../src/msgapp/msgapp-transport.js';
import { DEFAULT_SESSION_TIMING } from '../../../src/msgapp/sessions/session-manager.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { hesitant, isMoveTo } from '../../support/msgapp/hesitant-sessions.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000000';
const opened = closeAfterEach();
const open: LinkEvent = { kind: 'open', number: NUMBER };
const cut: LinkEvent = { kind: 'ended', end: { next: 'retry', reason: 'cut' } };

beforeAll(() => Logger.overrideLogger(false));

/** A process whose session store fails in the named methods. */
async function openFaulty() {
  const world = await MsgappFixture.open();
  const faults = new Set<string>();
  const transport = new ScriptedTransport();
  const sessions = hesitant(world.storage.store(SessionStore), async (method) => {
    if (faults.has(method)) throw new StorageUnavailableError('no answer');
  });
  const process = opened(await new MsgappProcess(world, transport, {}, sessions).start());
  const id = await linked(process, NUMBER);
  return { world, process, transport, faults, id, link: transport.last() };
}

async function another(world: MsgappFixture) {
  const transport = new ScriptedTransport();
  return { transport, process: opened(await new MsgappProcess(world, transport).start()) };
}

/** Time advances without a timer having run. */
function jump({ clock }: MsgappFixture, ms: number): void {
  const now = clock.now.bind(clock);
  clock.now = () => now() + ms;
}

const shown = async (process: MsgappProcess) => (await process.sessions.status(ACCOUNT)).status;

describe('a lease', () => {
  test('is renewed as long as the process lives, so no other process takes the session', async () => {
    const { world, process, id } = await openFaulty();
    const other = await another(world);
    await world.pass(300_000, 1000);
    expect([other.transport.links.length, await shown(other.process), await shown(process)]).toEqual([
      0,
      'connected',
      'connected',
    ]);
    expect(process.sessions.linkOf(id)).toBeDefined();
  });

  test('that is renewed is as long again as the first, counted from the moment of the request', async () => {
    const { world, id } = await openFaulty();
    const heldUntil = async () => (await world.storage.store(SessionStore).find(id))?.heldUntil ?? 0;
    const [begun, first] = [world.clock.now(), await heldUntil()];
    const ends: { at: number; end: number }[] = [];
    while (ends.length < 3) {
      await world.pass(100, 100);
      const end = await heldUntil();
      if (end !== (ends.at(-1)?.end ?? first)) ends.push({ at: world.clock.now(), end });
    }
    const leaseMs = first - begun;
    expect(leaseMs).toBe(DEFAULT_SESSION_TIMING.leaseMs);
    expect(ends.map(({ at, end }) => end - at)).toEqual([leaseMs, leaseMs, leaseMs]);
    // After a third of it, at one of the looks, of which there are six.
    const gaps = ends.map(({ at }, index) => at - (ends[index - 1]?.at ?? begun));
    expect(gaps).toEqual([leaseMs / 3, leaseMs / 3, leaseMs / 3]);
  });

  test('is renewed in time even if the clock is set back by an hour, and trusted no longer than before', async () => {
    const { world, process, faults, id, link } = await openFaulty();
    world.clock.setBack(3_600_000);
    await world.pass(15_000, 1000);
    const { heldUntil = 0 } = (await world.storage.store(SessionStore).find(id)) ?? {};
    // Processes whose clock was not set go by what is stored. This process renews in its own time.
    expect(heldUntil - world.clock.now()).toBeLessThanOrEqual(30_000);
    expect(heldUntil).toBeGreaterThan(world.clock.now());
    world.clock.setBack(3_600_000);
    faults.add('renew').add('free');
    await world.pass(30_000, 500);
    expect([process.sessions.linkOf(id), link.closed]).toEqual([undefined, 1]);
  });

  test('that could not be renewed in time is given up before it expires, and found again when the store is back', async () => {
    const { world, process, transport, faults, id, link } = await openFaulty();
    faults.add('renew').add('free');
    const { heldUntil = 0 } = (await world.storage.store(SessionStore).find(id)) ?? {};
    while (process.sessions.linkOf(id)) await world.pass(500, 500);
    expect(world.clock.now()).toBeLessThan(heldUntil);
    await settled();
    expect([link.closed, link.loggedOut, await shown(process)]).toEqual([1, 0, 'reconnecting']);
    faults.clear();
    transport.onOpen = (each) => void each.say(open);
    await world.pass(60_000, 1000);
    expect([await shown(process), transport.links.length, transport.peak]).toEqual(['connected', 2, 1]);
    expect((await world.steps(id)).slice(2)).toEqual(['reconnecting: restart', 'connected: reconnected']);
  });

  test('that another process has taken ends the session here at the next look, and nothing is written', async () => {
    const { world, process, id, link } = await openFaulty();
    const lease = await world.storage.store(SessionStore).seize(id, 'other', world.clock.now() + 30_000);
    await world.pass(15_000, 1000);
    expect([link.closed, process.sessions.find(id)]).toEqual([1, undefined]);
    expect(await world.steps(id)).toEqual(['created: requested', 'connected: linked']);
    expect(
      await world.storage.store(SessionStore).renew(lease ? [lease] : [], world.clock.now() + 30_000),
    ).toHaveLength(1);
  });

  test('that was lost lets nothing of the old process through: no step, no credentials', async () => {
    const { world, process, id, link } = await openFaulty();
    await world.storage.store(SessionStore).seize(id, 'other', world.clock.now() + 30_000);
    await expect(link.order.credentials.write([{ kind: 'k', id: 'i', value: 'v' }])).rejects.toThrow();
    await link.say(cut);
    await settled();
    expect([await world.status(id), process.sessions.find(id)]).toEqual(['connected', undefined]);
  });

  test('of a process that stands still is not trusted when it wakes up', async () => {
    const { world, process, id } = await openFaulty();
    world.clock.advance(0);
    // Time advances without a timer of ours having run.
    const now = world.clock.now() + 29_000;
    world.clock.now = () => now;
    expect(process.sessions.linkOf(id)).toBeUndefined();
    expect(process.channel.lanes()).toEqual([]);
  });

  test('of a process that stood still is requested again before anything is given up', async () => {
    const { world, process, id, link } = await openFaulty();
    const { qrToken } = await process.sessions.connect(ACCOUNT);
    await settled();
    jump(world, 29_000);
    expect(process.sessions.linkOf(id)).toBeUndefined();
    await world.pass(5000, 500);
    expect([link.closed, process.sessions.linkOf(id), await shown(process)]).toEqual([0, link, 'connected']);
    expect(() => process.sessions.watch(qrToken, AbortSignal.abort())).not.toThrow();
  });

  test('of a process that stood still is given up if somebody has taken it, or nobody can tell', async () => {
    const taken = await openFaulty();
    await taken.world.storage.store(SessionStore).seize(taken.id, 'other', taken.world.clock.now() + 90_000);
    const unreachable = await openFaulty();
    unreachable.faults.add('renew').add('free');
    for (const { world, process, id, link } of [taken, unreachable]) {
      jump(world, 29_000);
      await world.pass(10_000, 500);
      expect([link.closed, process.sessions.find(id)]).toEqual([1, undefined]);
    }
  });

  test('of a dead process is taken over when it has expired, and the session is not shown as connected until then', async () => {
    const { world, id } = await openFaulty();
    // The first process is not told to stop. It just never runs again.
    const dead = world.clock;
    const late = Object.assign(await MsgappFixture.open(), { storage: world.storage });
    late.clock.advance(dead.now() - late.clock.now());
    const { process, transport } = await another(late);
    transport.onOpen = (link) => void link.say(open);
    expect([await shown(process), transport.links.length]).toEqual(['connected', 0]);
    late.clock.now = (
      (now) => () =>
        now() + 30_001
    )(late.clock.now.bind(late.clock));
    expect(await shown(process)).toBe('reconnecting');
    await late.pass(15_000, 500);
    expect([await shown(process), transport.of(id).length, transport.last().order.linked]).toEqual([
      'connected',
      1,
      true,
    ]);
  });
});

describe('a step that cannot be stored', () => {
  test('is not shown, and is stored when the database is back', async () => {
    const { world, process, transport, faults, link } = await openFaulty();
    await link.say(cut);
    await world.pass(2000);
    faults.add('move');
    void transport.last().say(open);
    await world.pass(3000);
    expect(await shown(process)).toBe('reconnecting');
    expect(process.channel.lanes()).toEqual([]);
    faults.clear();
    await world.pass(2000);
    expect(await shown(process)).toBe('connected');
  });

  test('is stored when the database is back if it ends the session, and nothing is opened meanwhile', async () => {
    const { world, process, transport, faults, id, link } = await openFaulty();
    faults.add('move');
    void link.say({ kind: 'ended', end: { next: 'give-up', status: 'banned', reason: 'ban' } });
    await world.pass(10_000);
    expect([await shown(process), transport.links.length]).toEqual(['reconnecting', 1]);
    faults.clear();
    await world.pass(2000);
    expect([await world.status(id), transport.links.length]).toEqual(['banned', 1]);
  });
});

describe('a log-out that reaches another process', () => {
  test('is final at once, deletes the credentials, and the holder unlinks the phone when it notices', async () => {
    const { world, id, link } = await openFaulty();
    const other = await another(world);
    await link.order.credentials.write([{ kind: 'k', id: 'i', value: 'v' }]);
    await other.process.sessions.logout(ACCOUNT, id);
    expect([await world.status(id), other.transport.links.length]).toEqual(['logged_out', 0]);
    expect(await world.storage.store(SessionStore).credentials(id, 'k', ['i'])).toEqual(new Map());
    await world.pass(15_000, 1000);
    expect([link.loggedOut, other.transport.links.length]).toEqual([1, 0]);
    await world.pass(120_000, 5000);
    expect(await world.steps(id)).toEqual(['created: requested', 'connected: linked', 'logged_out: logout']);
  });
});

describe('a process that does not send', () => {
  test('links a number, and leaves it to one that does', async () => {
    const world = await MsgappFixture.open();
    const front = opened(new MsgappProcess(world, new ScriptedTransport()));
    const back = await another(world);
    back.transport.onOpen = (link) => void link.say(open);
    const id = await linked(front, NUMBER);
    await world.pass(15_000, 500);
    expect([front.transport.last().closed, front.transport.last().loggedOut]).toEqual([1, 0]);
    expect((await world.steps(id)).slice(1)).toEqual([
      'connected: linked',
      'reconnecting: handed_over',
      'connected: reconnected',
    ]);
    const { messageID } = await front.service.sendText(ACCOUNT, { to: '22675000000', body: 'Bonjour' });
    await world.pass(2000);
    expect(back.transport.last().sent.map(({ messageId }) => messageId)).toEqual([messageID]);
  });
});

describe('a shutdown', () => {
  test('leaves linked numbers to the next process, which opens them without a scan and with pauses between them', async () => {
    const world = await MsgappFixture.open();
    const first = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
    const numbers = Array.from({ length: 5 }, (_, index) => `2267000000${index}`);
    const ids: string[] = [];
    for (const number of numbers) ids.push(await linked(first, number));
    const waiting = await first.sessions.connect(ACCOUNT);
    await settled();
    await first.stop();
    expect(first.transport.links.map(({ closed, loggedOut }) => [closed, loggedOut])).toEqual(Array(6).fill([1, 0]));
    expect(await Promise.all(ids.map((id) => world.status(id)))).toEqual(Array(5).fill('reconnecting'));
    expect(await world.steps(waiting.sessionID)).toEqual(['created: requested', 'expired: shutdown']);
    expect(first.transport.stopped).toBe(1);

    const openedAt: number[] = [];
    const transport = new ScriptedTransport();
    transport.onOpen = (link) => {
      openedAt.push(world.clock.now());
      void link.say({ kind: 'open', number: numbers[ids.indexOf(link.order.sessionId)] ?? '' });
    };
    const start = world.clock.now();
    const second = opened(await new MsgappProcess(world, transport).start());
    await world.pass(3000, 10);
    expect(openedAt.map((at) => at - start)).toEqual([0, 250, 500, 750, 1000]);
    expect(transport.links.every(({ order }) => order.linked)).toBe(true);
    expect(await Promise.all(ids.map((id) => world.status(id)))).toEqual(Array(5).fill('connected'));
    expect(await second.sessions.status(ACCOUNT)).toMatchObject({ number: numbers[0], status: 'connected' });
  });

  test('does not wait for an unavailable database, nor for a connection that does not close', async () => {
    const { world, process, transport, faults, id } = await openFaulty();
    for (const method of ['move', 'release', 'renew']) faults.add(method);
    transport.closing = new Promise(() => undefined);
    await process.stop();
    expect(await world.status(id)).toBe('connected');
    faults.clear();
    const other = await another(world);
    other.transport.onOpen = (link) => void link.say(open);
    await world.pass(45_000, 1000);
    expect([await shown(other.process), other.transport.links.length]).toEqual(['connected', 1]);
  });

  test('takes no new sessions', async () => {
    const { process } = await openFaulty();
    await process.stop();
    await expect(process.sessions.connect(ACCOUNT)).rejects.toMatchObject({ code: 'error.storage_unavailable' });
  });

  test('that never happened leaves sessions that wait for a scan, and the next process ends them', async () => {
    const world = await MsgappFixture.open();
    const { storage, clock } = world;
    const made = { id: 'left', accountId: ACCOUNT, channel: 'msgapp', createdAt: clock.now() };
    await storage.store(SessionStore).create({ ...made, owner: 'dead', leaseUntil: clock.now() + 30_000 });
    const { transport, process } = await another(world);
    const expired: unknown[] = [];
    process.events.on('session.expired', ({ data: { id, status, reason } }) => expired.push([id, status, reason]));
    await world.pass(45_000, 1000);
    expect([await world.steps('left'), transport.links.length]).toEqual([
      ['created: requested', 'expired: abandoned'],
      0,
    ]);
    expect(expired).toEqual([['left', 'expired', 'abandoned']]);
  });
});

test('a slow store never makes a dead connection look connected', async () => {
  const world = await MsgappFixture.open();
  let release: () => void = () => undefined;
  const sessions = hesitant(world.storage.store(SessionStore), async (method, args) => {
    if (method !== 'move' || !isMoveTo(args, 'connected')) return;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
  });
  const transport = new ScriptedTransport();
  const process = opened(await new MsgappProcess(world, transport, {}, sessions).start());
  const { sessionID } = await process.sessions.connect(ACCOUNT);
  await settled();
  void transport.last().say(open);
  await settled();
  const seen = new Set<string>();
  process.sessions.listen({
    onStateChange: ({ link }) => void seen.add(link ? 'usable' : 'cut'),
    onEvent: () => undefined,
  });
  void transport.last().say(cut);
  release();
  await settled(2);
  for (let turn = 0; turn < 40; turn++) {
    seen.add(await shown(process));
    await new Promise(setImmediate);
  }
  expect(seen).toEqual(new Set(['cut', 'reconnecting']));
  expect(process.sessions.linkOf(sessionID)).toBeUndefined();
});
