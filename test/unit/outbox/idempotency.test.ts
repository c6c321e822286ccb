import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { MessagingError } from '../../../src/common/errors.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { HOUR_MS } from '../../../src/common/time.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import type { IdempotencyKey } from '../../../src/outbox/accept/send.js';
import { fingerprintOf, Idempotency } from '../../../src/outbox/idempotency.js';
import { type Acceptance, Outbox } from '../../../src/outbox/outbox.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend } from '../../contract/storage/fixtures.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

async function open() {
  const storage = await SqliteMemory.open();
  const clock = new FakeClock();
  for (const id of [ACCOUNT, 'other']) {
    await storage.store(AccountStore).createAccount({ id, name: id, createdAt: 0 });
    await storage.store(LedgerStore).post({ id: `funds ${id}`, accountId: id, kind: 'topup', units: 10, at: 0 });
  }
  const outbox = new Outbox(storage.store(OutboxStore), new LocalNotifier(), new MessagingEvents());
  const gate = new Idempotency(storage.store(OutboxStore), clock);
  let works = 0;
  /** Sends one SMS, whatever the body says. */
  const work =
    (accountId: string) =>
    (once?: IdempotencyKey): Promise<Acceptance> =>
      outbox.accept(aSend(++works, { accountId, at: clock.now(), ...(once && { once }) }));
  const run = (body: unknown, { key = 'k', accountId = ACCOUNT, route = 'r' } = {}) =>
    gate.run(accountId, route, { key, body }, work(accountId));
  return { gate, clock, run, storage, outbox, works: () => works };
}

describe('a key', () => {
  test('lets its request through once; a repeat gets the first answer and does no work', async () => {
    const { run, works, storage } = await open();
    const first = await run({ a: 1 });
    const repeat = await run({ a: 1 });
    expect([first.replayed, repeat.replayed, works()]).toEqual([false, true, 1]);
    expect(JSON.stringify(repeat.reply)).toBe(JSON.stringify(first.reply));
    expect(await storage.store(LedgerStore).balance(ACCOUNT)).toBe(9);
  });

  test('refuses another body before any work', async () => {
    const { run, works } = await open();
    await run({ a: 1 });
    await expect(run({ a: 2 })).rejects.toMatchObject({ code: 'error.idempotency_mismatch' });
    expect(works()).toBe(1);
  });

  test('belongs to its account and its route', async () => {
    const { run, works } = await open();
    const runs = [await run({}), await run({}, { accountId: 'other' }), await run({}, { route: 's' })];
    expect([runs.map(({ replayed }) => replayed), works()]).toEqual([[false, false, false], 3]);
  });

  test('is refused while its request runs, whatever the body is, and free again if that request fails', async () => {
    const { gate, run } = await open();
    const hold = new Gate();
    const request = { key: 'k', body: { a: 1 } };
    const running = gate.run(ACCOUNT, 'r', request, async () => {
      await hold.opened;
      throw new MessagingError('error.insufficient_balance');
    });
    for (const body of [{ a: 1 }, { a: 2 }]) {
      await expect(run(body)).rejects.toMatchObject({ code: 'error.idempotency_running', retryAfter: 1 });
    }
    expect((await run({ a: 1 }, { accountId: 'other' })).replayed).toBe(false);
    hold.open();
    await expect(running).rejects.toMatchObject({ code: 'error.insufficient_balance' });
    // Neither the refusal nor its body is kept.
    expect((await run({ a: 2 })).replayed).toBe(false);
  });

  test('is kept for 24 hours', async () => {
    const { run, clock } = await open();
    await run({});
    clock.advance(24 * HOUR_MS - 1);
    expect((await run({})).replayed).toBe(true);
    clock.advance(1);
    expect((await run({ another: 'body' })).replayed).toBe(false);
  });

  test('may be left out, and then every request is let through', async () => {
    const { gate, outbox, works, run } = await open();
    await run({});
    const free = () =>
      gate.run(ACCOUNT, 'r', undefined, (once) => outbox.accept(aSend(90 + works(), { ...(once && { once }) })));
    expect((await free()).replayed).toBe(false);
  });
});

describe('the fingerprint of a body', () => {
  test('does not depend on the order of fields at any depth', async () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, each]) => [key, shuffled(each)]),
      );
    };
    const same = fc.asyncProperty(
      fc.jsonValue(),
      async (body) => (await fingerprintOf(shuffled(body))) === (await fingerprintOf(body)),
    );
    await fc.assert(same);
  });

  test.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: null }, {}],
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
    [{ a: { b: 1 } }, { a: 1, b: 1 }],
    [{}, []],
    [undefined, null],
    [{ number: ['1', '2'] }, { number: ['12'] }],
    [{ ['__proto__']: { a: 1 } }, {}],
    [
      { a: 'x', b: 'xy' },
      { a: 'xx', b: 'y' },
    ],
  ])('differs for %j and %j', async (one, other) => {
    expect(await fingerprintOf(one)).not.toBe(await fingerprintOf(other));
  });

  test('is that of the JSON text with its keys in order', async () => {
    const body = { b: [1, 'é"', null, { d: true, c: [] }], a: {}, 10: 'x', 9: new Date(0) };
    const text = '{"10":"x","9":"1970-01-01T00:00:00.000Z","a":{},"b":[1,"é\\"",null,{"c":[],"d":true}]}';
    expect(await fingerprintOf(body)).toBe(createHash('sha256').update(text).digest('hex'));
  });

  test('of a long text lets other work have its turn, and depends on the whole text', async () => {
    const long = `${'a'.repeat(3_000_000)}😀`;
    let turns = 0;
    const turn = (): void => {
      turns++;
      again = setImmediate(turn);
    };
    let again = setImmediate(turn);
    const whole = await fingerprintOf({ content: long });
    clearImmediate(again);
    expect(turns).toBeGreaterThanOrEqual(10);
    const others = [{ content: long.slice(0, -1) }, { content: `b${long.slice(1)}` }, { [long]: 'content' }, [long]];
    const fingerprints = await Promise.all([{ content: long }, ...others].map(fingerprintOf));
    expect(new Set(fingerprints).size).toBe(5);
    expect(fingerprints[0]).toBe(whole);
  });
});

describe('a change under a key', () => {
  /** The same change in two processes. */
  async function twoProcesses() {
    const { gate, storage, clock } = await open();
    const made: unknown[] = [];
    const working = new Gate();
    const change = (by: Idempotency, body: object, work?: () => Promise<unknown>) =>
      by.keeping(ACCOUNT, 'signatures', { key: 'k', body }, async () => {
        await work?.();
        made.push(body);
        return { body };
      });
    return { gate, other: new Idempotency(storage.store(OutboxStore), clock), working, change, made, storage };
  }
  const MISMATCH = { code: 'error.idempotency_mismatch' };

  test('refuses another body before anything changes, if another process made the change', async () => {
    const { gate, other, working, change, made } = await twoProcesses();
    const begun = new Gate();
    const first = change(gate, { a: 1 }, () => {
      begun.open();
      return working.opened;
    });
    await begun.opened;
    await expect(change(other, { a: 2 })).rejects.toMatchObject(MISMATCH);
    expect(made).toEqual([]);
    working.open();
    expect(await first).toEqual({ reply: { body: { a: 1 } }, replayed: false });
    await expect(change(other, { a: 2 })).rejects.toMatchObject(MISMATCH);
    expect(await change(other, { a: 1 })).toEqual({ reply: { body: { a: 1 } }, replayed: true });
    expect(made).toEqual([{ a: 1 }]);
  });

  test('can only be completed with its own body, if a crash interrupted it', async () => {
    const { gate, other, change, made } = await twoProcesses();
    const crash = async () => {
      throw new Error('The process ends.');
    };
    await expect(change(gate, { a: 1 }, crash)).rejects.toThrow('The process ends.');
    await expect(change(other, { a: 2 })).rejects.toMatchObject(MISMATCH);
    await change(other, { a: 1 });
    expect(made).toEqual([{ a: 1 }]);
  });

  test('leaves the key free for any body, if it was refused', async () => {
    const { gate, storage } = await twoProcesses();
    const route = 'manage/carriers/acme/rest';
    const refuse = async () => {
      throw new MessagingError('error.route_not_found');
    };
    const once = { key: 'k', body: { a: 1 } };
    await expect(gate.keeping(ACCOUNT, route, once, refuse)).rejects.toMatchObject({ code: 'error.route_not_found' });
    const { reply } = await gate.keeping(ACCOUNT, route, { ...once, body: { a: 2 } }, async () => ({ done: 1 }));
    expect([reply, await storage.store(OutboxStore).purgeReplies(Number.MAX_SAFE_INTEGER, 10)]).toEqual([
      { done: 1 },
      2,
    ]);
  });
});
