import { describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { MessagingError, StorageUnavailableError } from '../../../src/common/errors.js';
import type { StoredReply } from '../../../src/common/idempotency-key.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';
import { GateProcess } from '../../support/outbox/gate-process.js';

const RUNNING = { code: 'error.idempotency_running', retryAfter: 1 };
const MISMATCH = { code: 'error.idempotency_mismatch' };
const BODY = { a: 1 };
const times = <T>(count: number, make: () => Promise<T>) => Array.from({ length: count }, make);

/** A process over a storage whose look-ups the test can hold. They read before they are held. */
async function open() {
  const storage = await SqliteMemory.open();
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: 0 });
  await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10, at: 0 });
  const lookUps: { readonly host: unknown; readonly answer: Gate; fault?: Error }[] = [];
  let held = false;
  const replay = storage.store(OutboxStore).replay.bind(storage.store(OutboxStore));
  storage.store(OutboxStore).replay = async (key, now, host?: object): Promise<StoredReply | undefined> => {
    const found = await replay(key, now);
    const lookUp: (typeof lookUps)[number] = { host, answer: new Gate() };
    lookUps.push(lookUp);
    if (held) await lookUp.answer.opened;
    if (lookUp.fault) throw lookUp.fault;
    return found;
  };
  const process = new GateProcess(storage);
  return {
    storage,
    process,
    lookUps,
    /** Holds all look-ups from now on, and starts counting again. */
    hold: () => {
      held = true;
      lookUps.length = 0;
    },
    letGo: () => {
      held = false;
      for (const { answer } of lookUps) answer.open();
    },
    balance: () => storage.store(LedgerStore).balance(ACCOUNT),
    /** The keys of which the gate knows something. */
    known: (): unknown => Reflect.get(Object(Reflect.get(process.gate, 'keys')), 'size'),
  };
}

describe('when the first request has ended', () => {
  test('concurrent repeats are all replayed from one look-up, and another body is refused', async () => {
    const { process, hold, lookUps, letGo, balance, known } = await open();
    const { reply } = await process.run(BODY);
    hold();
    const repeats = times(8, () => process.run(BODY));
    const other = expect(process.run({ a: 2 })).rejects.toMatchObject(MISMATCH);
    const late = settled().then(() => process.run(BODY));
    await settled(20);
    letGo();
    expect(await Promise.all([...repeats, late])).toEqual(Array.from({ length: 9 }, () => ({ reply, replayed: true })));
    await other;
    expect([lookUps.length, process.works, await balance(), known()]).toEqual([1, 1, 9, 0]);
  });

  test('each repeat has an answer of its own: changing one does not change another', async () => {
    const { process } = await open();
    const { reply } = await process.run(BODY);
    const [one, other] = await Promise.all([process.run(BODY), process.run(BODY)]);
    Object.assign(one.reply, { changed: true });
    expect(other.reply).toEqual(reply);
  });

  test('requests that began before it are looked up again, and later ones do not wait for them', async () => {
    const { process, hold, lookUps, letGo, balance } = await open();
    hold();
    // All of these read that nothing is kept. Two of them run in transactions of their own.
    const first = process.run(BODY, undefined, { manager: 1 });
    const early = [process.run(BODY), process.run(BODY, undefined, { manager: 2 })];
    await settled();
    lookUps[0]?.answer.open();
    const { reply } = await first;
    const late = process.run(BODY);
    await settled();
    expect(lookUps).toHaveLength(4);
    letGo();
    const replayed = { reply, replayed: true };
    expect(await Promise.all([...early, late])).toEqual([replayed, replayed, replayed]);
    expect([process.works, await balance()]).toEqual([1, 9]);
  });
});

describe('while the first request is at work', () => {
  test('the others are told so at once, whatever their body is, and the storage is not read', async () => {
    const { process, hold, lookUps, balance, known } = await open();
    const working = new Gate();
    const first = process.run(BODY, async (send) => {
      await working.opened;
      return send();
    });
    await settled();
    hold();
    for (const body of [BODY, { a: 2 }]) await expect(process.run(body)).rejects.toMatchObject(RUNNING);
    expect(lookUps).toEqual([]);
    working.open();
    expect([(await first).replayed, process.works, await balance(), known()]).toEqual([false, 1, 9, 0]);
  });
});

describe('of concurrent first requests', () => {
  test('one does the work, the others are told to wait, and nothing is remembered of them', async () => {
    const { process, balance, known, lookUps } = await open();
    const results = await Promise.allSettled(times(50, () => process.run(BODY)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toEqual([
      expect.objectContaining({ value: expect.objectContaining({ replayed: false }) }),
    ]);
    const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refusals).toHaveLength(49);
    for (const refusal of refusals) expect(refusal).toMatchObject(RUNNING);
    expect([process.works, lookUps.length, await balance(), known()]).toEqual([1, 1, 9, 0]);
  });

  test('in two processes one is charged, and both give its answer', async () => {
    const { storage, process, balance } = await open();
    const other = new GateProcess(storage, process.clock, 100);
    const results = await Promise.allSettled([process, other].flatMap((each) => times(25, () => each.run(BODY))));
    const done = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(done.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
    expect(done[0]?.reply).toEqual(done[1]?.reply);
    expect(await balance()).toBe(9);
  });

  test('one whose work is refused leaves the next free to try, whatever its body is', async () => {
    const { process, balance, known } = await open();
    const refuse = async () => {
      throw new MessagingError('error.insufficient_balance');
    };
    const results = await Promise.allSettled(times(5, () => process.run(BODY, refuse)));
    expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'rejected'));
    expect((await process.run({ a: 2 })).replayed).toBe(false);
    expect([await balance(), known()]).toEqual([9, 0]);
  });
});

describe('a look-up', () => {
  test('during which work is refused leaves the key free, so the work is then done', async () => {
    const { process, hold, lookUps, letGo, balance } = await open();
    const refuse = async () => {
      throw new MessagingError('error.insufficient_balance');
    };
    hold();
    const first = process.run(BODY, refuse, { manager: 1 });
    const second = process.run(BODY);
    await settled();
    lookUps[0]?.answer.open();
    await expect(first).rejects.toMatchObject({ code: 'error.insufficient_balance' });
    letGo();
    expect((await second).replayed).toBe(false);
    expect([process.works, await balance()]).toEqual([2, 9]);
  });

  test('that fails also fails the requests that wait for it, and is forgotten', async () => {
    const { process, hold, lookUps, letGo, known } = await open();
    const { reply } = await process.run(BODY);
    hold();
    const waiting = Promise.allSettled(times(3, () => process.run(BODY)));
    await settled();
    for (const lookUp of lookUps) lookUp.fault = new StorageUnavailableError('away');
    letGo();
    const away = { status: 'rejected', reason: expect.any(StorageUnavailableError) };
    expect(await waiting).toEqual([away, away, away]);
    expect([lookUps.length, known()]).toEqual([1, 0]);
    expect(await process.run(BODY)).toEqual({ reply, replayed: true });
  });

  test('that fails while another request is at work is forgotten too', async () => {
    const { process, hold, lookUps, letGo } = await open();
    const working = new Gate();
    hold();
    const first = process.run(
      BODY,
      async (send) => {
        await working.opened;
        return send();
      },
      { manager: 1 },
    );
    const failing = expect(process.run(BODY)).rejects.toThrow(StorageUnavailableError);
    await settled();
    const [mine, shared] = lookUps;
    if (shared) shared.fault = new StorageUnavailableError('away');
    mine?.answer.open();
    await settled();
    letGo();
    await failing;
    working.open();
    const { reply } = await first;
    expect(await process.run(BODY)).toEqual({ reply, replayed: true });
  });

  test('in a host’s transaction is separate: it answers nobody else, and nobody else answers it', async () => {
    const { process, hold, lookUps, letGo, known } = await open();
    await process.run(BODY);
    hold();
    const [one, two] = [{ manager: 1 }, { manager: 2 }];
    const runs = [
      process.run(BODY, undefined, one),
      process.run(BODY),
      process.run(BODY, undefined, two),
      process.run(BODY),
      process.run(BODY, undefined, one),
    ];
    await settled();
    expect(lookUps.map(({ host }) => host)).toEqual([one, undefined, two, one]);
    letGo();
    expect((await Promise.all(runs)).map(({ replayed }) => replayed)).toEqual([true, true, true, true, true]);
    expect(known()).toBe(0);
  });

  test('is not made without a key', async () => {
    const { process, lookUps, known } = await open();
    const accepted = { reply: {}, replayed: false };
    const running = process.gate.run(ACCOUNT, 'r', undefined, async (once) => {
      expect([once, known()]).toEqual([undefined, 0]);
      return accepted;
    });
    expect([await running, lookUps.length]).toEqual([accepted, 0]);
  });
});
