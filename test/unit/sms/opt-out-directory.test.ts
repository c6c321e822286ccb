import { beforeEach, describe, expect, test } from '@jest/globals';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { OptOutDirectory } from '../../../src/sms/opt-out/opt-out-directory.js';
import { EVERY_ACCOUNT, type OptOutKey, OptOutStore } from '../../../src/sms/opt-out/opt-out-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

/** Counts the reads, and answers when it is told to. */
class CountingStore extends OptOutStore {
  readonly read: string[] = [];
  readonly asked: number[] = [];
  away = false;
  hold: Promise<void> = Promise.resolve();

  override async signatures(accountId: string): Promise<readonly string[]> {
    this.read.push(accountId);
    if (this.away) throw new StorageUnavailableError('away');
    return super.signatures(accountId);
  }

  override async among(keys: readonly OptOutKey[]): Promise<readonly OptOutKey[]> {
    this.asked.push(keys.length);
    await this.hold;
    if (this.away) throw new StorageUnavailableError('away');
    return super.among(keys);
  }
}

const NUMBER = '22670000001';
const OTHER = '22670000002';

describe('opt-outs', () => {
  let clock: FakeClock;
  let store: CountingStore;
  let directory: OptOutDirectory;
  let entries: number;

  beforeEach(async () => {
    clock = new FakeClock();
    store = new CountingStore((await SqliteMemory.open()).db);
    directory = new OptOutDirectory(clock, store, new LocalNotifier(), { keys: [] });
    entries = 0;
  });

  const optOut = (number: string, accountId = 'a', signature = 'INFOS') =>
    store.add([{ id: `e${entries++}`, accountId, signature, number, source: 'phone', at: 0 }]);
  const among = async (numbers: string[], accountId = 'a', signature = 'INFOS') =>
    [...(await directory.among(accountId, signature, numbers))].sort();

  test('cost an account without entries two reads, then nothing, not even a promise', async () => {
    expect(await among([NUMBER, OTHER])).toEqual([]);
    expect(store.read.sort()).toEqual([EVERY_ACCOUNT, 'a']);
    for (let time = 0; time < 100; time++) expect(directory.among('a', 'INFOS', [NUMBER])).toBeInstanceOf(Set);
    expect([store.read.length, store.asked.length]).toEqual([2, 0]);
  });

  test('cost nothing for signatures without entries, even if others have some', async () => {
    await optOut(NUMBER, 'a', 'ALERTE');
    await among([NUMBER]);
    expect(directory.among('a', 'INFOS', [NUMBER])).toEqual(new Set());
    expect(store.asked).toEqual([]);
    expect(await among([NUMBER, OTHER], 'a', 'ALERTE')).toEqual([NUMBER]);
    expect(store.asked).toEqual([2]);
  });

  test('include an account’s own entries and those for all accounts', async () => {
    await optOut(NUMBER);
    await optOut(OTHER, EVERY_ACCOUNT);
    expect(await among([NUMBER, OTHER, '22670000003'])).toEqual([NUMBER, OTHER]);
    expect(await among([NUMBER, OTHER], 'b')).toEqual([OTHER]);
    expect(await among([NUMBER, OTHER], 'a', 'ALERTE')).toEqual([]);
  });

  test('take effect within four seconds on another instance if it is the first entry, and at once on this one', async () => {
    await among([NUMBER]);
    await optOut(NUMBER);
    clock.advance(4000);
    expect(await among([NUMBER])).toEqual([NUMBER]);
    await optOut(OTHER, 'b');
    expect(await among([OTHER], 'b')).toEqual([OTHER]);
    await among([OTHER], 'c');
    await optOut(OTHER, 'c');
    directory.forget('c');
    expect(await among([OTHER], 'c')).toEqual([OTHER]);
  });

  test('take effect everywhere at once if further ones are added or taken back', async () => {
    await optOut(NUMBER);
    expect(await among([NUMBER, OTHER])).toEqual([NUMBER]);
    await optOut(OTHER);
    expect(await among([NUMBER, OTHER])).toEqual([NUMBER, OTHER]);
    await store.remove([{ accountId: 'a', signature: 'INFOS', number: NUMBER }]);
    expect(await among([NUMBER, OTHER])).toEqual([OTHER]);
  });

  test('are read once for all callers that ask while the database is answering', async () => {
    await optOut(NUMBER);
    await among([NUMBER]);
    store.asked.length = 0;
    let answer: () => void = () => undefined;
    store.hold = new Promise((resolve) => {
      answer = resolve;
    });
    const answers = Array.from({ length: 50 }, (_, index) => among([index % 2 === 0 ? NUMBER : OTHER]));
    await settled();
    expect(store.asked).toEqual([1]);
    answer();
    for (const [index, found] of (await Promise.all(answers)).entries()) {
      expect(found).toEqual(index % 2 === 0 ? [NUMBER] : []);
    }
    expect(store.asked).toEqual([1, 49]);
  });

  test('of a large send are looked up in portions', async () => {
    const numbers = Array.from({ length: 12_000 }, (_, index) => `2267${String(index).padStart(7, '0')}`);
    for (const number of numbers.slice(4998, 5003)) await optOut(number);
    expect(await among(numbers)).toEqual(numbers.slice(4998, 5003));
    expect(store.asked).toEqual([5000, 5000, 2000]);
  });

  test('are answered separately for recipients of several senders', async () => {
    await optOut(NUMBER);
    const to = (number: string, accountId = 'a', sender = 'INFOS') => ({ number, accountId, sender });
    const all = [to(NUMBER), to(OTHER), to(NUMBER, 'b'), to(NUMBER, 'a', 'ALERTE')];
    expect([...(await directory.optedOut(all))]).toEqual([all[0]]);
    expect(await directory.optedOut([])).toEqual(new Set());
  });

  test('let no SMS through while the storage is unavailable', async () => {
    store.away = true;
    await expect(among([NUMBER])).rejects.toThrow(StorageUnavailableError);
    store.away = false;
    await optOut(NUMBER);
    await among([NUMBER]);
    store.away = true;
    await expect(among([NUMBER])).rejects.toThrow(StorageUnavailableError);
  });
});
