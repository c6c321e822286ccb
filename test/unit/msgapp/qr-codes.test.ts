import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { LinkNews } from '../../../src/msgapp/sessions/qr-stream.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000000';
const opened = closeAfterEach();
const never = new AbortController().signal;

beforeAll(() => Logger.overrideLogger(false));

async function open() {
  const world = await MsgappFixture.open();
  const transport = new ScriptedTransport();
  const process = opened(await new MsgappProcess(world, transport).start());
  const { sessionID: id, qrToken: token } = await process.sessions.connect(ACCOUNT);
  await settled();
  const link = transport.last();
  const show = (qr: string, ms = 20_000) => link.say({ kind: 'qr', qr, expiresAt: world.clock.now() + ms });
  return { world, transport, process, id, token, link, show };
}

/** Reads all news as they come. */
function reader(news: AsyncIterable<LinkNews>) {
  const seen: (string | undefined)[] = [];
  const over = (async () => {
    for await (const each of news) seen.push(each.kind === 'qr' ? each.qr : `${each.status} ${each.reason ?? '-'}`);
    seen.push(undefined);
  })();
  return { seen, over };
}

describe('those who have a session’s token', () => {
  test('see its state, its code, each further code, and that it is connected; then the stream ends', async () => {
    const { process, token, link, show } = await open();
    const early = reader(process.sessions.watch(token, never));
    await show('q1');
    const late = reader(process.sessions.watch(token, never));
    await show('q2');
    await link.say({ kind: 'linked', number: NUMBER });
    await link.say({ kind: 'open', number: NUMBER });
    await Promise.all([early.over, late.over]);
    expect(early.seen).toEqual(['created -', 'q1', 'q2', 'connected linked', undefined]);
    expect(late.seen).toEqual(early.seen);
  });

  test('are told the number and the reason', async () => {
    const { process, token, link, id } = await open();
    const news = process.sessions.watch(token, never);
    await link.say({ kind: 'open', number: NUMBER });
    const all: LinkNews[] = [];
    for await (const each of news) all.push(each);
    expect(all.at(-1)).toEqual({
      kind: 'status',
      sessionId: id,
      status: 'connected',
      number: NUMBER,
      reason: 'linked',
    });
  });

  test('see the end if it ends in another way', async () => {
    const { world, process, token, link } = await open();
    const { seen, over } = reader(process.sessions.watch(token, never));
    await link.say({ kind: 'notice', reason: 'passkey_required' });
    const late = reader(process.sessions.watch(token, never));
    await world.pass(200_000, 10_000);
    await Promise.all([over, late.over]);
    expect(seen).toEqual(['created -', 'created passkey_required', 'expired not_scanned', undefined]);
    expect(late.seen).toEqual(seen.slice(1));
  });

  test('are at most twenty at a time: a further one ends the stream of the oldest', async () => {
    const { process, token, show } = await open();
    const readers = Array.from({ length: 22 }, () => reader(process.sessions.watch(token, never)));
    await Promise.all(readers.slice(0, 2).map(({ over }) => over));
    await show('q1');
    await settled();
    expect(readers.map(({ seen }) => seen.at(-1))).toEqual([undefined, undefined, ...Array(20).fill('q1')]);
  });

  test('see no code that can no longer be scanned', async () => {
    const { world, process, token, link, show } = await open();
    await show('q1');
    await world.pass(20_000, 10_000);
    const { seen } = reader(process.sessions.watch(token, never));
    await settled();
    expect(seen).toEqual(['created -']);
    await show('q2');
    void link.say({ kind: 'ended', end: { next: 'retry', reason: 'cut' } });
    const other = reader(process.sessions.watch(token, never));
    await settled();
    expect(other.seen).toEqual(['created -']);
  });

  test('may leave at any time', async () => {
    const { process, token, show } = await open();
    const leaving = new AbortController();
    const { seen, over } = reader(process.sessions.watch(token, leaving.signal));
    await settled();
    leaving.abort();
    await over;
    await show('q1');
    expect(seen).toEqual(['created -', undefined]);
    const gone = reader(process.sessions.watch(token, AbortSignal.abort()));
    await gone.over;
    expect(gone.seen).toEqual([undefined]);
  });
});

describe('the current code', () => {
  test('is returned at once if there is one', async () => {
    const { world, process, token, show } = await open();
    await show('q1');
    await show('q2');
    expect(await process.sessions.currentQr(token, 10_000, never)).toMatchObject({
      qr: 'q2',
      expiresAt: world.clock.now() + 20_000,
    });
  });

  test('is waited for, and not forever', async () => {
    const { world, process, token, show } = await open();
    const first = process.sessions.currentQr(token, 10_000, never);
    await world.pass(9000, 1000);
    await show('q1', 500);
    expect(await first).toMatchObject({ qr: 'q1' });
    await world.pass(1000);
    let answer: unknown = 'none yet';
    const second = process.sessions.currentQr(token, 10_000, never).then((code) => {
      answer = code;
    });
    await world.pass(9900);
    expect(answer).toBe('none yet');
    await world.pass(200);
    await second;
    expect(answer).toBeUndefined();
  });

  test('is waited for by twenty at a time: a further one ends the wait of the oldest, streams among them', async () => {
    const { process, token, show } = await open();
    const stream = reader(process.sessions.watch(token, never));
    const images = Array.from({ length: 21 }, () => process.sessions.currentQr(token, 10_000, never));
    await stream.over;
    expect(await images[0]).toBeUndefined();
    await show('q1');
    expect((await Promise.all(images)).map((code) => code?.qr)).toEqual([undefined, ...Array(20).fill('q1')]);
  });

  test('of a session that is linked meanwhile is not found', async () => {
    const { process, token, link } = await open();
    const waiting = process.sessions.currentQr(token, 10_000, never);
    waiting.catch(() => undefined);
    await link.say({ kind: 'open', number: NUMBER });
    await expect(waiting).rejects.toMatchObject({ code: 'error.qr_not_found' });
  });
});

describe('a token', () => {
  test.each(['connected', 'over', 'handed over'])('is invalid if its session is %s', async (how) => {
    const { process, token, link } = await open();
    if (how === 'connected') await link.say({ kind: 'open', number: NUMBER });
    if (how === 'over') {
      await link.say({ kind: 'ended', end: { next: 'give-up', status: 'failed', reason: 'no' } });
      await settled();
    }
    if (how === 'handed over') await process.stop();
    expect(() => process.sessions.watch(token, never)).toThrow(expect.objectContaining({ code: 'error.qr_not_found' }));
    await expect(process.sessions.currentQr(token, 10_000, never)).rejects.toMatchObject({
      code: 'error.qr_not_found',
    });
  });

  test('is not found if it was made up', async () => {
    const { process, token } = await open();
    for (const wrong of ['', 'x', `${token}x`, token.slice(1), token.toUpperCase(), '__proto__']) {
      expect(() => process.sessions.watch(wrong, never)).toThrow(
        expect.objectContaining({ code: 'error.qr_not_found' }),
      );
    }
  });

  test('has 192 random bits of its own, and is stored nowhere', async () => {
    const { world, process, token } = await open();
    const other = await process.sessions.connect(ACCOUNT);
    expect(Buffer.from(token, 'base64url')).toHaveLength(24);
    expect(other.qrToken).not.toBe(token);
    expect(containsText(process.sessions, token)).toBe(false);
    expect(containsText(world.storage, token)).toBe(false);
  });

  test('never reaches the log or the events, nor does a code', async () => {
    const lines: string[] = [];
    const methods = ['log', 'warn', 'error', 'debug', 'verbose', 'fatal'] as const;
    const logger = Object.fromEntries(
      methods.map((name) => [name, jest.fn((...all: unknown[]) => lines.push(all.join()))]),
    );
    Logger.overrideLogger(logger as never);
    const { process, token, show, link, world } = await open();
    const events: unknown[] = [];
    process.events.on(['session.connected', 'session.reconnecting', 'session.banned'], (event) => events.push(event));
    await show('secret-code');
    await link.say({ kind: 'ended', end: { next: 'retry', reason: 'cut' } });
    await world.pass(2000);
    process.transport.closing = Promise.reject(new TypeError('secret-code'));
    await process.transport.last().say({ kind: 'open', number: NUMBER });
    await process.transport.last().say({ kind: 'ended', end: { next: 'give-up', status: 'banned', reason: 'no' } });
    await settled();
    Logger.overrideLogger(false);
    expect(lines.length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain(NUMBER);
    const said = JSON.stringify([lines, events]);
    for (const secret of [token, 'secret-code']) expect(said).not.toContain(secret);
    expect(events).toHaveLength(2);
    const data = { id: expect.any(String), channel: 'msgapp', number: NUMBER, status: 'connected', reason: 'linked' };
    expect(events[0]).toMatchObject({ type: 'session.connected', account: ACCOUNT, data });
  });
});

/** Whether a text occurs anywhere in what can be reached from an object. */
function containsText(root: object, text: string): boolean {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [root];
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    if (typeof each === 'string' && each.includes(text)) return true;
    if (typeof each !== 'object' || each === null || seen.has(each)) continue;
    seen.add(each);
    if (each instanceof Map || each instanceof Set) waiting.push(...each.keys(), ...each.values());
    waiting.push(...Reflect.ownKeys(each).filter((key) => typeof key === 'string'), ...Object.values(each));
  }
  return false;
}
