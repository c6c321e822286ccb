import { describe, expect, test } from '@jest/globals';
import type { DataSource, EntityManager } from 'typeorm';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { ACCOUNT, aSend, messageId, START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { SetBackClock } from '../../../support/common/set-back-clock.js';
import { settled } from '../../../support/common/settled.js';
import { SqliteFile } from '../../../support/databases/sqlite-file.js';

const opened = closeAfterEach();

interface Fixture {
  readonly file: SqliteFile;
  readonly clock: SetBackClock;
  readonly dataSource: DataSource;
  readonly storage: TypeormStorage;
}

async function world(): Promise<Fixture> {
  const file = opened(new SqliteFile());
  const clock = new SetBackClock();
  const dataSource = await file.dataSource();
  const storage = new TypeormStorage({ database: dataSource, clock });
  await storage.start();
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
  await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 100, at: START });
  await dataSource.query('CREATE TABLE host_row (id INTEGER PRIMARY KEY)');
  return { file, clock, dataSource, storage };
}

/** Runs `during` inside a transaction of the host's, which then commits or, if told so, rolls back. */
async function hostTransaction(
  dataSource: DataSource,
  during: (manager: EntityManager) => Promise<unknown>,
  end: 'commit' | 'roll back' = 'commit',
): Promise<void> {
  const undo = new Error('the host changes its mind');
  await dataSource
    .transaction(async (manager) => {
      await during(manager);
      if (end === 'roll back') throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}

/** The outcome of a promise so far. */
function watched<T>(promise: Promise<T>): { state: 'pending' | 'resolved' | 'rejected'; error: unknown } {
  const seen: { state: 'pending' | 'resolved' | 'rejected'; error: unknown } = { state: 'pending', error: undefined };
  promise.then(
    () => {
      seen.state = 'resolved';
    },
    (error: unknown) => {
      Object.assign(seen, { state: 'rejected', error });
    },
  );
  return seen;
}

const commit = ({ storage }: Fixture, index: number) => storage.store(OutboxStore).commit([aSend(index)], decide);

describe('a write while the host has a transaction open', () => {
  test('waits, and is made at the very moment when that ends, before the host goes on', async () => {
    const it = await world();
    for (const end of ['commit', 'roll back'] as const) {
      const index = end === 'commit' ? 1 : 2;
      let write = watched(Promise.resolve());
      await hostTransaction(
        it.dataSource,
        async (manager) => {
          await manager.query('INSERT INTO host_row DEFAULT VALUES');
          write = watched(commit(it, index));
          await settled();
          expect(write.state).toBe('pending');
        },
        end,
      );
      // Time stood still, so it was not the next look that found the connection free.
      const [row] = await it.dataSource.query(`SELECT count(*) AS n FROM messaging_message WHERE id = ?`, [
        messageId(index),
      ]);
      expect([row.n, write.state]).toEqual([1, 'resolved']);
    }
    expect(await it.dataSource.query('SELECT count(*) AS n FROM host_row')).toEqual([{ n: 1 }]);
    expect(await it.storage.store(LedgerStore).check()).toEqual([]);
  });

  test('gets its turn between transactions that follow each other without a pause', async () => {
    const it = await world();
    let write = watched(Promise.resolve());
    await hostTransaction(it.dataSource, async () => {
      write = watched(commit(it, 1));
      await settled();
    });
    // No turn of the event loop lies between the two, so a single look at the clock would always fall into the second
    // one.
    await hostTransaction(it.dataSource, async () => {
      expect(write.state).toBe('resolved');
    });
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(99);
  });

  test('does not become part of it when a savepoint ends', async () => {
    const it = await world();
    let write = watched(Promise.resolve());
    await hostTransaction(
      it.dataSource,
      async (manager) => {
        write = watched(commit(it, 1));
        await settled();
        await manager.transaction((inner) => inner.query('INSERT INTO host_row DEFAULT VALUES'));
        expect(write.state).toBe('pending');
      },
      'roll back',
    );
    await settled();
    expect(write.state).toBe('resolved');
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(99);
    expect(await it.dataSource.query('SELECT count(*) AS n FROM host_row')).toEqual([{ n: 0 }]);
  });

  test('that is awaited inside it, without the manager, is refused after 5 s with a hint', async () => {
    const it = await world();
    await hostTransaction(it.dataSource, async (manager) => {
      await manager.query('INSERT INTO host_row DEFAULT VALUES');
      const write = watched(commit(it, 1));
      await settled();
      it.clock.advance(4999);
      await settled();
      expect(write.state).toBe('pending');
      it.clock.advance(1);
      await settled();
      expect(write.error).toMatchObject({
        code: 'error.storage_unavailable',
        retryAfter: 1,
        reason: expect.stringContaining('pass { host: { manager } }'),
      });
    });
    // Nothing of it happens later, and the host's own work stands.
    await settled();
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(100);
    expect(await it.dataSource.query('SELECT count(*) AS n FROM host_row')).toEqual([{ n: 1 }]);
  });

  test.each(['a transaction of the host', 'another process'])(
    'has its 5 s even if the clock is set back by an hour meanwhile (%s)',
    async (obstacle) => {
      const it = await world();
      const other = await it.file.dataSource();
      const holder = obstacle === 'another process' ? other : it.dataSource;
      await hostTransaction(holder, async (manager) => {
        await manager.query('INSERT INTO host_row DEFAULT VALUES');
        const write = watched(commit(it, 1));
        await settled();
        it.clock.advance(1000);
        await settled();
        it.clock.setBack(3_600_000);
        it.clock.advance(3999);
        await settled();
        expect(write.state).toBe('pending');
        it.clock.advance(1);
        await settled();
        expect(write.error).toMatchObject({ code: 'error.storage_unavailable' });
      });
      await other.destroy();
      expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(100);
    },
  );

  test('has its own 5 s, however long others have waited', async () => {
    const it = await world();
    let second = watched(Promise.resolve());
    await hostTransaction(it.dataSource, async () => {
      const first = watched(commit(it, 1));
      await settled();
      it.clock.advance(4000);
      second = watched(commit(it, 2));
      await settled();
      it.clock.advance(1000);
      await settled();
      expect([first.state, second.state]).toEqual(['rejected', 'pending']);
    });
    await settled();
    expect(second.state).toBe('resolved');
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(99);
  });

  test('does not see uncommitted rows: a read waits too', async () => {
    const it = await world();
    let read = Promise.resolve<number | undefined>(undefined);
    await hostTransaction(
      it.dataSource,
      async (manager) => {
        await manager.query('UPDATE messaging_account SET balance = 7');
        read = it.storage.store(LedgerStore).balance(ACCOUNT);
        await settled();
      },
      'roll back',
    );
    expect(await read).toBe(100);
  });
});

describe("work that joins the host's transaction", () => {
  test('is committed with it', async () => {
    const it = await world();
    await hostTransaction(it.dataSource, async (manager) => {
      expect(await it.storage.store(OutboxStore).commit([aSend(1)], decide, { manager })).toMatchObject([
        { kind: 'accepted' },
      ]);
    });
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(99);
    expect(await it.storage.store(LedgerStore).check()).toEqual([]);
  });

  test('is rolled back with it, also with a savepoint', async () => {
    const it = await world();
    const join = (manager: EntityManager, index: number) =>
      it.storage.store(OutboxStore).commit([aSend(index)], decide, { manager });
    await hostTransaction(it.dataSource, (manager) => join(manager, 1), 'roll back');
    await hostTransaction(it.dataSource, async (manager) => {
      await join(manager, 2);
      const inner = manager.transaction(async (nested) => {
        await join(nested, 3);
        throw new Error('only the savepoint');
      });
      await expect(inner).rejects.toThrow('only the savepoint');
    });
    const { items } = await it.storage.store(OutboxStore).list({
      accountId: ACCOUNT,
      channel: 'sms',
      kinds: ['text'],
      limit: 9,
      after: undefined,
    });
    expect(items.map(({ id }) => id)).toEqual([messageId(2)]);
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(99);
    expect(await it.storage.store(LedgerStore).check()).toEqual([]);
  });

  test.each(['no transaction', 'a transaction that has ended', 'another DataSource', 'no manager at all'])(
    'is refused with %s, and writes nothing',
    async (which) => {
      const it = await world();
      const other = await it.file.dataSource();
      let ended: unknown;
      await hostTransaction(it.dataSource, async (manager) => {
        ended = manager;
      });
      const attempt = (manager: unknown) => it.storage.store(OutboxStore).commit([aSend(1)], decide, { manager });
      const refused = { code: 'error.storage_unavailable', reason: expect.stringContaining('{ host: { manager } }') };
      if (which === 'no transaction') await expect(attempt(it.dataSource.manager)).rejects.toMatchObject(refused);
      if (which === 'a transaction that has ended') await expect(attempt(ended)).rejects.toMatchObject(refused);
      if (which === 'no manager at all') await expect(attempt({})).rejects.toMatchObject(refused);
      if (which === 'another DataSource') {
        await other.transaction(async (manager) => {
          await expect(attempt(manager)).rejects.toMatchObject(refused);
        });
      }
      expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(100);
    },
  );

  test('is notified of the commit once it has happened, and never of a rollback', async () => {
    const it = await world();
    const order: string[] = [];
    await hostTransaction(it.dataSource, async (manager) => {
      it.storage.store(OutboxStore).whenCommitted({ manager }, () => order.push('committed'));
      await manager.transaction(async () => undefined);
      await settled();
      expect(order).toEqual([]);
    });
    expect(order).toEqual(['committed']);
    await hostTransaction(
      it.dataSource,
      async (manager) => it.storage.store(OutboxStore).whenCommitted({ manager }, () => order.push('rolled back')),
      'roll back',
    );
    await hostTransaction(it.dataSource, async () => undefined);
    expect(order).toEqual(['committed']);
  });

  test('fails without quoting the text it carried', async () => {
    const it = await world();
    const secret = aSend(1, { payload: { kind: 'text', text: 'le code est 4711' } });
    await hostTransaction(it.dataSource, async (manager) => {
      await it.storage.store(OutboxStore).commit([aSend(1)], decide, { manager });
      const failure: unknown = await it.storage
        .store(OutboxStore)
        .commit([secret], decide, { manager })
        .catch((error) => error);
      expect(failure).toBeInstanceOf(Error);
      expect(JSON.stringify(failure, Object.getOwnPropertyNames(failure))).not.toContain('4711');
    });
  });
});

describe('work of several callers in one turn', () => {
  test('is one transaction, and a failed write does not fail the others', async () => {
    const it = await world();
    const results = await Promise.allSettled([commit(it, 1), commit(it, 2), commit(it, 1), commit(it, 3)]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(97);
    expect(await it.storage.store(LedgerStore).check()).toEqual([]);
  });

  test('sees in its reads what was written with them', async () => {
    const it = await world();
    const [, balance] = await Promise.all([commit(it, 1), it.storage.store(LedgerStore).balance(ACCOUNT)]);
    expect(balance).toBe(99);
  });
});

describe('a long transaction on a file that several processes share', () => {
  /** A commit that takes this many milliseconds. */
  const slowCommit = ({ storage, clock }: Fixture, index: number, ms: number) =>
    storage.store(OutboxStore).commit([aSend(index)], (...given) => {
      clock.advance(ms);
      return decide(...given);
    });

  test.each([
    { ms: 100, restMs: 10 },
    { ms: 300, restMs: 30 },
    { ms: 20_000, restMs: 50 },
  ])('of $ms ms is followed by a rest of $restMs ms, during which the file is free', async ({ ms, restMs }) => {
    const it = await world();
    await slowCommit(it, 1, ms);
    const next = watched(commit(it, 2));
    // Reads go on.
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(99);
    it.clock.advance(restMs - 1);
    await settled();
    expect(next.state).toBe('pending');
    it.file.handle().exec('INSERT INTO host_row DEFAULT VALUES');
    it.clock.advance(1);
    await settled();
    expect(next.state).toBe('resolved');
    // That one was short.
    await commit(it, 3);
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(97);
  });

  test('waits 5 s while another process holds the file, and no longer', async () => {
    const it = await world();
    await slowCommit(it, 1, 1000);
    const other = it.file.handle();
    other.exec('BEGIN IMMEDIATE');
    const next = watched(commit(it, 2));
    await settled();
    for (let ms = 0; ms < 4999; ms++) {
      it.clock.advance(1);
      await settled(1);
    }
    await settled();
    expect(next.state).toBe('pending');
    it.clock.advance(1);
    await settled();
    expect(next.error).toMatchObject({ code: 'error.storage_unavailable', retryAfter: 1 });
    other.exec('ROLLBACK');
  });

  test('is followed by the next at once if it was short', async () => {
    const it = await world();
    await slowCommit(it, 1, 99);
    await commit(it, 2);
    expect(await it.storage.store(LedgerStore).balance(ACCOUNT)).toBe(98);
  });
});

describe('stopping', () => {
  test('waits for pending work, accepts nothing new, and leaves the DataSource as it was', async () => {
    const it = await world();
    const before = it.dataSource.subscribers.length;
    const outbox = it.storage.store(OutboxStore);
    let stop = watched(Promise.resolve());
    let write = watched(Promise.resolve());
    await hostTransaction(it.dataSource, async () => {
      write = watched(outbox.commit([aSend(1)], decide));
      await settled();
      stop = watched(it.storage.stop());
      await settled();
      expect(stop.state).toBe('pending');
      await expect(outbox.commit([aSend(2)], decide)).rejects.toMatchObject({ code: 'error.storage_unavailable' });
    });
    await settled();
    expect([write.state, stop.state]).toEqual(['resolved', 'resolved']);
    expect(it.dataSource.subscribers.length).toBe(before - 1);
    expect(it.dataSource.isInitialized).toBe(true);
  });
});
