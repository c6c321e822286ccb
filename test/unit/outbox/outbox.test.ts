import { describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { Outbox } from '../../../src/outbox/outbox.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend, messageId, onceKey, recipients } from '../../contract/storage/fixtures.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';
import { ScriptedCommits } from '../../support/outbox/scripted-commits.js';

const UNITS = 100_000;

async function open(...accounts: string[]) {
  const storage = await SqliteMemory.open();
  for (const id of [ACCOUNT, ...accounts]) {
    await storage.store(AccountStore).createAccount({ id, name: id, createdAt: 0 });
    await storage.store(LedgerStore).post({ id: `funds ${id}`, accountId: id, kind: 'topup', units: UNITS, at: 0 });
  }
  const commits = new ScriptedCommits(storage.store(OutboxStore));
  const notifier = new LocalNotifier();
  const rings: string[] = [];
  notifier.listen('due', (channel) => rings.push(channel));
  const clock = new FakeClock();
  const outbox = new Outbox(commits.store, notifier, new MessagingEvents());
  const spent = async (id = ACCOUNT) => UNITS - Number(await storage.store(LedgerStore).balance(id));
  return { storage, commits, outbox, rings, notifier, clock, spent };
}

/** The outcome of each send, in a word. */
async function ends(promises: readonly Promise<unknown>[]): Promise<string[]> {
  const results = await Promise.allSettled(promises);
  return results.map((result) => (result.status === 'fulfilled' ? 'accepted' : String(result.reason.message)));
}

describe('sends that arrive', () => {
  test('in one turn share a commit, and those that arrive during it share the next one', async () => {
    const { outbox, commits, spent, rings } = await open();
    const gate = new Gate();
    commits.before = gate.opened;
    const first = [1, 2, 3].map((index) => outbox.accept(aSend(index)));
    await settled();
    const second = [4, 5].map((index) => outbox.accept(aSend(index)));
    await settled();
    const third = outbox.accept(aSend(6));
    await settled();
    expect(commits.seen).toHaveLength(1);
    gate.open();
    await Promise.all([...first, ...second, third]);
    expect(commits.seen.map(({ ids }) => ids)).toEqual([
      [messageId(1), messageId(2), messageId(3)],
      [messageId(4), messageId(5), messageId(6)],
    ]);
    expect([await spent(), rings]).toEqual([6, ['sms', 'sms']]);
  });

  test('are not answered before their commit', async () => {
    const { outbox, commits } = await open();
    const gate = new Gate();
    commits.before = gate.opened;
    let answered = false;
    const accepted = outbox.accept(aSend(1)).then(() => {
      answered = true;
    });
    await settled(50);
    expect(answered).toBe(false);
    gate.open();
    await accepted;
  });

  test('in a crowd are committed 256 at a time', async () => {
    const { outbox, commits, spent } = await open();
    await Promise.all(Array.from({ length: 600 }, (_, index) => outbox.accept(aSend(index))));
    expect(commits.seen.map(({ ids }) => ids.length)).toEqual([256, 256, 88]);
    expect(await spent()).toBe(600);
  });

  test('with many recipients are committed up to 5000 recipients at a time; a larger send has a commit of its own', async () => {
    const { outbox, commits } = await open();
    const sizes = [2000, 2000, 1000, 1, 7000, 10, 20];
    await Promise.all(sizes.map((count, index) => outbox.accept(aSend(index, { recipients: recipients(count) }))));
    expect(commits.seen.map((commit) => [commit.ids.length, commit.recipients])).toEqual([
      [3, 5000],
      [1, 1],
      [1, 7000],
      [2, 30],
    ]);
  });

  test('keep their order within an account, so the first ones get the balance', async () => {
    const { outbox } = await open();
    const large = (index: number) => outbox.accept(aSend(index, { recipients: recipients(1, 30_000) }));
    const answers = await ends([1, 2, 3, 4, 5].map(large));
    expect(answers).toEqual(['accepted', 'accepted', 'accepted', ...Array(2).fill('error.insufficient_balance')]);
  });
});

describe('a crowd that comes back', () => {
  const CROWD = 10;
  const HALF = CROWD / 2;

  /** Accepts sends of these numbers in one turn. */
  const arrive = (outbox: Outbox, from: number, count: number) =>
    Array.from({ length: count }, (_, index) => outbox.accept(aSend(from + index)));

  /** One send that was committed by itself, although others could have been committed with it. */
  async function servedByServer() {
    const world = await open();
    const gate = new Gate();
    world.commits.before = gate.opened;
    const first = arrive(world.outbox, 0, CROWD);
    await settled();
    gate.open();
    await Promise.all(first);
    return { ...world, sizes: () => world.commits.seen.map(({ ids }) => ids.length) };
  }

  test('is not waited for until the last one: those who are back are committed while the others are served', async () => {
    const { outbox, commits, sizes } = await servedByServer();
    const gate = new Gate();
    commits.before = gate.opened;
    const back = arrive(outbox, 20, HALF);
    expect(sizes()).toEqual([CROWD, HALF]);
    const late = arrive(outbox, 30, HALF);
    await settled();
    gate.open();
    await Promise.all([...back, ...late]);
    expect(sizes()).toEqual([CROWD, HALF, HALF]);
  });

  test('is not waited for either if a commit lasts only a moment longer than its turn, as with a server nearby', async () => {
    const { outbox, commits } = await open();
    // Ends after the check that still sees the commit under way, in the same run of immediates.
    const nearby = async () => {
      await null;
      await new Promise(setImmediate);
    };
    Object.defineProperty(commits, 'before', { get: nearby });
    await Promise.all(arrive(outbox, 0, CROWD));
    const back = arrive(outbox, 20, HALF);
    expect(commits.seen.map(({ ids }) => ids.length)).toEqual([CROWD, HALF]);
    await Promise.all(back);
  });

  test('is waited for two turns if only a part is back', async () => {
    const { outbox, sizes } = await servedByServer();
    const few = arrive(outbox, 20, 2);
    await settled(1);
    expect(sizes()).toEqual([CROWD]);
    await settled(1);
    expect(sizes()).toEqual([CROWD, 2]);
    await Promise.all(few);
  });

  const atOnce: OutboxStore['commit'] = async (sends) => sends.map(({ reply }) => ({ kind: 'accepted', reply }));
  test.each([
    { name: 'at once', begin: { commit: atOnce } },
    { name: 'in the next turn, as on SQLite', begin: {} },
  ])('is also waited for two turns if nobody is served during a commit: $name', async ({ begin }) => {
    const { outbox, commits, storage } = await open();
    Object.assign(storage.store(OutboxStore), begin);
    await Promise.all(arrive(outbox, 0, CROWD));
    const most = arrive(outbox, 20, CROWD - 1);
    await settled(1);
    const last = arrive(outbox, 30, 1);
    await Promise.all([...most, ...last]);
    expect(commits.seen.map(({ ids }) => ids.length)).toEqual([CROWD, CROWD]);
  });

  test('is forgotten if it stays away: a single caller waits for nobody', async () => {
    const { outbox, commits } = await servedByServer();
    for (let index = 0; index < 40; index++) await outbox.accept(aSend(100 + index));
    const before = commits.seen.length;
    const alone = outbox.accept(aSend(200));
    await settled(1);
    expect(commits.seen.length).toBe(before + 1);
    await alone;
  });
});

describe('a fault', () => {
  test('in one send does not fail the others of its batch', async () => {
    const { outbox, commits, spent, storage } = await open();
    const answers = await ends([1, 2, 1, 3].map((index) => outbox.accept(aSend(index))));
    expect(answers.map((answer) => answer === 'accepted')).toEqual([true, true, false, true]);
    expect(commits.seen.map(({ ids }) => ids.length)).toEqual([4, 1, 1, 1, 1]);
    expect([await spent(), await storage.store(LedgerStore).check()]).toEqual([3, []]);
  });

  test('of the storage is reported to the whole batch, and nothing is tried again, because it may have been committed', async () => {
    const { outbox, commits, spent } = await open();
    commits.faults.push(new StorageUnavailableError('The connection broke.'));
    expect(await ends([1, 2, 3].map((index) => outbox.accept(aSend(index))))).toEqual(
      Array(3).fill('error.storage_unavailable'),
    );
    expect([commits.seen.length, await spent()]).toEqual([1, 0]);
    await outbox.accept(aSend(4));
    expect(await spent()).toBe(1);
  });

  test('of the notifier does not fail the send, which is charged once and not committed again', async () => {
    const { outbox, commits, spent, notifier } = await open();
    notifier.listen('due', () => {
      throw new Error('Redis is away');
    });
    expect(await ends([1, 2].map((index) => outbox.accept(aSend(index))))).toEqual(['accepted', 'accepted']);
    expect([commits.seen.length, await spent()]).toEqual([1, 2]);
  });

  test('notifies no worker', async () => {
    const { outbox, rings } = await open();
    await ends([outbox.accept(aSend(1, { recipients: recipients(1, UNITS + 1) }))]);
    await ends([outbox.accept(aSend(2, { accountId: 'nobody' }))]);
    expect(rings).toEqual([]);
  });
});

describe('repeats under one key', () => {
  test('in one batch send once, and all get the first answer', async () => {
    const { outbox, spent } = await open();
    const answers = await Promise.all([1, 2, 3].map((index) => outbox.accept(aSend(index, { once: onceKey() }))));
    expect(answers.map(({ replayed }) => replayed)).toEqual([false, true, true]);
    expect(new Set(answers.map(({ reply }) => JSON.stringify(reply))).size).toBe(1);
    expect(await spent()).toBe(1);
  });
});

describe('an account whose row is locked', () => {
  test('does not delay the others, neither those of its batch nor those that come later', async () => {
    const { outbox, commits, spent } = await open('other');
    const release = commits.hold(ACCOUNT);
    const waiting = [1, 2].map((index) => outbox.accept(aSend(index)));
    await outbox.accept(aSend(3, { accountId: 'other' }));
    await outbox.accept(aSend(4, { accountId: 'other' }));
    expect([await spent('other'), await spent()]).toEqual([2, 0]);
    release();
    expect(await ends(waiting)).toEqual(['accepted', 'accepted']);
    expect(await spent()).toBe(2);
  });

  test('is waited for in one lane however many sends arrive, and keeps its order', async () => {
    const { outbox, commits, spent } = await open();
    const release = commits.hold(ACCOUNT);
    const done: number[] = [];
    const waiting: Promise<unknown>[] = [];
    for (let index = 0; index < 20; index++) {
      waiting.push(outbox.accept(aSend(index)).then(() => done.push(index)));
      await settled(3);
    }
    const lanes = () => commits.seen.filter(({ waitFor }) => waitFor === 'accounts');
    expect(lanes()).toHaveLength(1);
    release();
    await Promise.all(waiting);
    expect(done).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(lanes().map(({ ids }) => ids.length)).toEqual([1, 19]);
    expect(await spent()).toBe(20);
  });

  test('is one of four that are waited for at a time; the next gets its turn when one is free', async () => {
    const names = ['b', 'c', 'd', 'e', 'f'];
    const { outbox, commits, spent } = await open(...names);
    const releases = new Map([ACCOUNT, ...names].map((id) => [id, commits.hold(id)]));
    const waiting = [...releases.keys()].map((accountId, index) => outbox.accept(aSend(index, { accountId })));
    await settled();
    const lanes = () => commits.seen.filter(({ waitFor }) => waitFor === 'accounts').length;
    expect(lanes()).toBe(4);
    releases.get('b')?.();
    await waiting[1];
    await settled();
    expect([lanes(), await spent('b'), await spent('f')]).toEqual([5, 1, 0]);
    for (const release of releases.values()) release();
    await Promise.all(waiting);
    expect([lanes(), await spent('f')]).toEqual([6, 1]);
  });

  test('and stays locked for too long has its sends refused, while the others go on', async () => {
    const { outbox, commits, spent } = await open('other');
    const patienceEnds = new Gate();
    const timeout = patienceEnds.opened.then(() => {
      throw new StorageUnavailableError('Lock timeout.');
    });
    commits.held.set(ACCOUNT, timeout);
    const waiting = ends([1, 2].map((index) => outbox.accept(aSend(index))));
    await outbox.accept(aSend(3, { accountId: 'other' }));
    patienceEnds.open();
    expect(await waiting).toEqual(Array(2).fill('error.storage_unavailable'));
    commits.held.clear();
    await outbox.accept(aSend(4));
    expect([await spent(), await spent('other')]).toEqual([1, 1]);
  });
});

describe('a caller that no longer waits', () => {
  const GONE = new Error('The caller has gone.');

  test('has its send dropped as long as no transaction holds it, and nothing is charged', async () => {
    const { outbox, commits, spent } = await open();
    const gate = new Gate();
    commits.before = gate.opened;
    const caller = new AbortController();
    const taken = outbox.accept(aSend(1), { signal: caller.signal });
    await settled();
    const dropped = outbox.accept(aSend(2, { once: onceKey() }), { signal: caller.signal });
    const other = outbox.accept(aSend(3));
    caller.abort(GONE);
    const late = outbox.accept(aSend(4), { signal: caller.signal });
    gate.open();
    const results = await Promise.allSettled([taken, dropped, other, late]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
    expect([results[1], results[3]]).toEqual(Array(2).fill({ status: 'rejected', reason: GONE }));
    expect([await spent(), commits.seen.flatMap(({ ids }) => ids)]).toEqual([2, [messageId(1), messageId(3)]]);
  });

  test('leaves its Idempotency-Key free, so a repeat under it is accepted anew', async () => {
    const { outbox, commits, spent } = await open();
    const caller = new AbortController();
    const dropped = ends([outbox.accept(aSend(1, { once: onceKey() }), { signal: caller.signal })]);
    caller.abort(GONE);
    expect(await dropped).toEqual([GONE.message]);
    expect(commits.seen).toEqual([]);
    expect(await outbox.accept(aSend(2, { once: onceKey() }))).toMatchObject({ replayed: false });
    expect(await spent()).toBe(1);
  });

  test('has its send dropped while its account is locked by others', async () => {
    const { outbox, commits, spent } = await open();
    const release = commits.hold(ACCOUNT);
    const callers = [1, 2, 3].map((index) => {
      const caller = new AbortController();
      return { caller, accepted: outbox.accept(aSend(index), { signal: caller.signal }) };
    });
    const answers = ends(callers.map(({ accepted }) => accepted));
    await settled();
    // One lane waits with all three in its transaction. Sends that come now wait for the lane.
    const late = new AbortController();
    const behind = ends([outbox.accept(aSend(4), { signal: late.signal }), outbox.accept(aSend(5))]);
    await settled();
    late.abort(GONE);
    release();
    expect(await answers).toEqual(Array(3).fill('accepted'));
    expect([await behind, await spent()]).toEqual([[GONE.message, 'accepted'], 4]);
  });

  test('does not delay those behind it', async () => {
    const { outbox, commits, spent } = await open();
    const gone = AbortSignal.abort(GONE);
    const caller = new AbortController();
    const all = Array.from({ length: 300 }, (_, index) => outbox.accept(aSend(index), { signal: caller.signal }));
    const answers = ends([...all, outbox.accept(aSend(300)), outbox.accept(aSend(301), { signal: gone })]);
    caller.abort(GONE);
    expect((await answers).filter((answer) => answer === 'accepted')).toHaveLength(1);
    expect([await spent(), commits.seen.map(({ ids }) => ids.length)]).toEqual([1, [1]]);
  });
});
