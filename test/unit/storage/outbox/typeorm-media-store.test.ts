import { setImmediate as pause } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { MediaStore, rechunk } from '../../../../src/media/media-store.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';
import { START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { SqliteFile } from '../../../support/databases/sqlite-file.js';
import { WatchedDatabase } from '../../../support/databases/watched-database.js';

const KB = 1024;
const CHUNK = 256 * KB;
const opened = closeAfterEach();

async function world() {
  const file = opened(new SqliteFile());
  const dataSource = await file.dataSource();
  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  opened({ close: () => storage.stop() });
  const db = new WatchedDatabase(await databaseFor(dataSource));
  return { db, storage, store: new MediaStore(db), dataSource };
}

async function* source(count: number, size: number, pulled: (bytes: number) => void = () => undefined) {
  for (let index = 0; index < count; index++) {
    pulled((index + 1) * size);
    yield new Uint8Array(size).fill(index);
  }
}

async function sizes(chunks: AsyncIterable<Uint8Array>): Promise<number[]> {
  const seen: number[] = [];
  for await (const chunk of chunks) seen.push(chunk.length);
  return seen;
}

describe('a file of 50 MB', () => {
  test('is never completely in memory while it is written: nothing is pulled before the previous chunk is stored', async () => {
    const { db, store } = await world();
    const size = 100 * KB;
    let ahead = 0;
    await store.write(
      'f',
      source(512, size, (bytes) => {
        // The first write is the file's own row.
        ahead = Math.max(ahead, bytes - (db.writes - 1) * CHUNK);
      }),
      START,
    );
    expect(ahead).toBeLessThanOrEqual(CHUNK + size);
    expect(db.largest).toBe(CHUNK);
    expect(db.writes).toBe(1 + (512 * size) / CHUNK + 1);
  });

  test('is read on demand: one piece, one query', async () => {
    const { db, store } = await world();
    await store.write('f', source(20, CHUNK), START);
    db.reads = 0;
    let pieces = 0;
    for await (const piece of store.read('f')) {
      pieces += 1;
      await pause();
      expect(piece.length).toBe(CHUNK);
      expect(db.reads).toBe(1 + pieces);
    }
    expect(pieces).toBe(20);
  });

  test('is read no further when its reader stops', async () => {
    const { db, store } = await world();
    await store.write('f', source(20, CHUNK), START);
    db.reads = 0;
    for await (const _ of store.read('f')) break;
    await pause();
    expect(db.reads).toBe(2);
  });

  test('is removed piece by piece, and leaves no row behind', async () => {
    const { store, dataSource } = await world();
    await store.write('f', source(200, CHUNK), START);
    let most = 0;
    let before = 200;
    const rows = async () => Number((await dataSource.query('SELECT count(*) AS n FROM messaging_media_chunk'))[0].n);
    const removing = store.remove(['f']);
    let done = false;
    void removing.finally(() => {
      done = true;
    });
    while (!done) {
      const left = await rows();
      most = Math.max(most, before - left);
      before = left;
      await pause();
    }
    await removing;
    expect(await rows()).toBe(0);
    expect(await dataSource.query('SELECT * FROM messaging_media')).toEqual([]);
    expect(most).toBeLessThanOrEqual(32);
  });

  test('lets others have their turn between its pieces', async () => {
    const { store, storage, db } = await world();
    let others = 0;
    let waiting = false;
    db.onWrite = () => {
      if (waiting) return;
      waiting = true;
      void storage
        .store(AccountStore)
        .createAccount({ id: `a${others}`, name: 'A', createdAt: START })
        .then(() => {
          others += 1;
          waiting = false;
        });
    };
    await store.write('f', source(40, CHUNK), START);
    expect(others).toBeGreaterThan(10);
  });
});

describe('a write that fails', () => {
  test('in the middle leaves no row behind', async () => {
    const { db, store, dataSource } = await world();
    db.onWrite = () => {
      if (db.writes === 4) throw new Error('disk trouble');
    };
    await expect(store.write('f', source(9, CHUNK), START)).rejects.toThrow('disk trouble');
    expect(await dataSource.query('SELECT * FROM messaging_media_chunk')).toEqual([]);
    expect(await dataSource.query('SELECT * FROM messaging_media')).toEqual([]);
  });

  test('permanently leaves what the purge finds', async () => {
    const { db, store, dataSource } = await world();
    db.onWrite = () => {
      if (db.writes >= 4) throw new Error('disk trouble');
    };
    await expect(store.write('f', source(9, CHUNK), START)).rejects.toThrow('disk trouble');
    await expect(sizes(store.read('f'))).rejects.toThrow('not stored');
    db.onWrite = () => undefined;
    expect(await store.purge(START + 1, 9)).toBe(1);
    expect(await dataSource.query('SELECT * FROM messaging_media_chunk')).toEqual([]);
  });

  test('closes its source', async () => {
    const { db, store } = await world();
    let closed = false;
    async function* closing() {
      try {
        yield* source(9, CHUNK);
      } finally {
        closed = true;
      }
    }
    db.onWrite = () => {
      if (db.writes === 4) throw new Error('disk trouble');
    };
    await expect(store.write('f', closing(), START)).rejects.toThrow('disk trouble');
    expect(closed).toBe(true);
  });

  test('because its id is taken pulls nothing', async () => {
    const { store } = await world();
    await store.write('f', source(1, 1), START);
    let pulled = 0;
    await expect(
      store.write(
        'f',
        source(9, CHUNK, () => pulled++),
        START,
      ),
    ).rejects.toThrow();
    expect(pulled).toBe(0);
  });
});

describe('chunks of equal size', () => {
  test.each([
    { count: 3, size: 7, of: 5, expected: [5, 5, 5, 5, 1] },
    { count: 1, size: 10, of: 5, expected: [5, 5] },
    { count: 5, size: 1, of: 5, expected: [5] },
    { count: 2, size: 0, of: 5, expected: [] },
    { count: 0, size: 1, of: 5, expected: [] },
  ])('$count of $size become pieces of $of', async ({ count, size, of, expected }) => {
    expect(await sizes(rechunk(source(count, size), of))).toEqual(expected);
  });
});
