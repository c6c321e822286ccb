import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { DataSource, type EntityManager } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { capped } from '../../contract/storage/accounts/key-caps.js';
import { ACCOUNT, aSend, messageId, onceKey, range, recipients, START } from '../../contract/storage/fixtures.js';
import { counting } from '../../contract/storage/outbox/records.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { hasServer } from '../../support/databases/servers.js';
import { expectStandingTransactionEnds } from '../../support/databases/standing-transaction.js';
import { expectCapAmongHosts } from '../../support/mounting/host-caps.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';
import { expectStartSentences } from '../../support/storage/start-sentences.js';

const available = await hasServer('MariaDB', 3306);
const suite = available ? describe : describe.skip;

suite('peculiarities of MariaDB', () => {
  let database: Awaited<ReturnType<typeof createMariadbDatabase>>;
  let host: DataSource;
  let storage: TypeormStorage;

  beforeAll(async () => {
    database = await createMariadbDatabase();
  });

  beforeEach(async () => {
    host = await new DataSource({ type: 'mysql', url: database.url }).initialize();
    storage = new TypeormStorage({ database: host });
  });

  afterEach(async () => {
    await storage.stop();
    const tables: { name: string }[] = await host.query(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'messaging%'",
    );
    for (const { name } of tables) await host.query(`DROP TABLE ${name}`);
    await host.destroy();
  });

  afterAll(() => database.drop());

  /** Something that is done while the host has a transaction open, which is rolled back in any case. */
  async function beside<T>(use: (manager: EntityManager) => Promise<T>): Promise<T> {
    const runner = host.createQueryRunner();
    await runner.startTransaction('REPEATABLE READ');
    try {
      return await use(runner.manager);
    } finally {
      await runner.rollbackTransaction();
      await runner.release();
    }
  }

  async function open(units: number): Promise<void> {
    await storage.start();
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.store(LedgerStore).post({ id: 'p', accountId: ACCOUNT, kind: 'topup', units, at: START });
  }

  test('a transaction of a process that stands still releases its rows to the next one', async () => {
    await open(1);
    const own = await new DataSource({ type: 'mysql', url: database.url }).initialize();
    await expectStandingTransactionEnds(own, ACCOUNT);
    await own.destroy();
  });

  test('a host’s transaction may stand still as long as the server permits', async () => {
    await open(1);
    await storage.store(LedgerStore).post({ id: 'q', accountId: ACCOUNT, kind: 'topup', units: 1, at: START });
    const seen = await beside((manager) => manager.query('SELECT @@idle_transaction_timeout AS seconds'));
    expect(seen).toEqual([{ seconds: '0' }]);
  });

  describe('on one connection', () => {
    let own: DataSource;
    let counted: TypeormStorage;
    let asked: readonly { readonly mock: { readonly calls: readonly unknown[] } }[];

    beforeEach(async () => {
      await open(9);
      own = await new DataSource({ type: 'mysql', url: database.url, extra: { connectionLimit: 1 } }).initialize();
      counted = new TypeormStorage({ database: own });
      await counted.start();
      const runner = own.createQueryRunner();
      const connection = await runner.connect();
      asked = [jest.spyOn(connection, 'query'), jest.spyOn(connection, 'execute')];
      await runner.release();
    });

    afterEach(async () => {
      await counted.stop();
      await own.destroy();
    });

    const trips = () => asked.map(({ mock }) => mock.calls.length);

    test('a batch that its accounts can pay for is one prepared statement', async () => {
      await storage.store(AccountStore).createAccount({ id: 'other', name: 'B', createdAt: START });
      await storage.store(LedgerStore).post({ id: 'q', accountId: 'other', kind: 'topup', units: 2, at: START });
      await counted.store(OutboxStore).commit([aSend(1), aSend(2)], decide, undefined, 'none');
      expect(trips()).toEqual([0, 1]);
      await counted.store(OutboxStore).commit([aSend(3), aSend(4, { accountId: 'other' })], decide, undefined, 'none');
      expect(trips()).toEqual([0, 2]);
      expect([
        await storage.store(LedgerStore).balance(ACCOUNT),
        await storage.store(LedgerStore).balance('other'),
      ]).toEqual([6, 1]);
      expect(await storage.store(LedgerStore).check()).toEqual([]);
    });

    test('a batch that one of its accounts cannot pay for writes nothing at first, and then the part that can be paid', async () => {
      const sends = [aSend(1, { recipients: recipients(9) }), aSend(2)];
      const outcomes = await counted.store(OutboxStore).commit(sends, decide, undefined, 'none');
      expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'refused']);
      expect([await storage.store(LedgerStore).balance(ACCOUNT), await storage.store(LedgerStore).check()]).toEqual([
        0,
        [],
      ]);
    });

    test('a send under a key begins, locks, reads, and writes with its COMMIT', async () => {
      await counted.store(OutboxStore).commit([aSend(1, { once: onceKey() })], decide, undefined, 'none');
      expect(trips()).toEqual([4, 0]);
      expect(await storage.store(LedgerStore).balance(ACCOUNT)).toBe(8);
    });

    test('a commit that fails leaves no transaction behind', async () => {
      await counted.store(OutboxStore).commit([aSend(1)], decide, undefined, 'none');
      await expect(counted.store(OutboxStore).commit([aSend(1)], decide, undefined, 'none')).rejects.toThrow(
        'ER_DUP_ENTRY',
      );
      const again = { once: onceKey() };
      await expect(counted.store(OutboxStore).commit([aSend(1, again)], decide, undefined, 'none')).rejects.toThrow(
        'ER_DUP_ENTRY',
      );
      const [{ open: held }] = await own.query('SELECT @@in_transaction AS open');
      expect([Number(held), await storage.store(LedgerStore).balance(ACCOUNT)]).toEqual([0, 8]);
      expect(await storage.store(LedgerStore).check()).toEqual([]);
    });
  });

  test('a start that is not possible says why in a sentence', () => expectStartSentences(database.url));

  test.each([5, 1])(
    'a host transaction with an older snapshot still sees the key that was used meanwhile, of %i units',
    async (units) => {
      await open(units);
      const outcomes = await beside(async (manager) => {
        await manager.query('SELECT count(*) FROM messaging_message');
        await storage.store(OutboxStore).commit([aSend(1, { once: onceKey() })], decide);
        return storage.store(OutboxStore).commit([aSend(2, { once: onceKey() })], decide, { manager });
      });
      expect(outcomes).toEqual([{ kind: 'replayed', reply: { smsID: messageId(1) } }]);
      expect(await storage.store(LedgerStore).balance(ACCOUNT)).toBe(units - 1);
    },
  );

  test.each([1, 2])(
    'a host transaction with an older snapshot sees what a key has spent meanwhile, of a cap of %i',
    async (cap) => {
      await open(9);
      if (cap === 2) await storage.store(OutboxStore).commit([aSend(1, capped(cap))], decide);
      const outcomes = await beside(async (manager) => {
        await manager.query('SELECT count(*) FROM messaging_key_spending');
        await storage.store(OutboxStore).commit([aSend(2, capped(cap))], decide);
        return storage.store(OutboxStore).commit([aSend(3, capped(cap))], decide, { manager });
      });
      expect(outcomes).toEqual([{ kind: 'refused', why: 'key_cap' }]);
    },
  );

  test('sends of a key with a cap, inside transactions of the host and beside them, do not exceed it', async () => {
    await open(1000);
    await expectCapAmongHosts(storage, host);
  });

  describe('a host transaction that stands still', () => {
    const others = range(20).map((index) => `other-${index}`);

    beforeEach(async () => {
      await open(5);
      for (const id of others) {
        await storage.store(AccountStore).createAccount({ id, name: id, createdAt: START });
        await storage.store(LedgerStore).post({ id: `p-${id}`, accountId: id, kind: 'topup', units: 5, at: START });
      }
    });

    const keyed = (index: number, accountId: string) =>
      aSend(index, { accountId, once: onceKey({ accountId, key: `key-${index}` }) });

    const expectOthersGoOn = async () => {
      const outcomes = others.map((id, index) =>
        storage.store(OutboxStore).commit([keyed(index, id)], decide, undefined, 'none'),
      );
      expect((await Promise.all(outcomes)).flat().map(({ kind }) => kind)).toEqual(others.map(() => 'accepted'));
    };

    test('with a keyed send of its own does not delay keyed sends of other accounts', async () => {
      await beside(async (manager) => {
        await storage.store(OutboxStore).commit([keyed(100, ACCOUNT)], decide, { manager });
        await expectOthersGoOn();
      });
    });

    test('with a send of a key with a cap does not delay such sends of other accounts', async () => {
      const limited = (index: number, accountId: string) =>
        aSend(index, { accountId, ...capped(5, `k${index}`, `k${index}`) });
      await beside(async (manager) => {
        await storage.store(OutboxStore).commit([limited(50, ACCOUNT)], decide, { manager });
        const outcomes = others.map((id, index) =>
          storage.store(OutboxStore).commit([limited(index * 7, id)], decide, undefined, 'none'),
        );
        expect((await Promise.all(outcomes)).flat().map(({ kind }) => kind)).toEqual(others.map(() => 'accepted'));
      });
    });

    test('with a posting of its own does not delay sends and postings of other accounts', async () => {
      await beside(async (manager) => {
        await storage
          .store(LedgerStore)
          .post({ id: 'msg-', accountId: ACCOUNT, kind: 'topup', units: 1, at: START }, { manager });
        await expectOthersGoOn();
        const post = (accountId: string) =>
          storage.store(LedgerStore).post({ id: `late-${accountId}`, accountId, kind: 'topup', units: 1, at: START });
        expect(await Promise.all(others.map(post))).toEqual(others.map(() => 'posted'));
      });
    });
  });

  test('a host transaction with an older snapshot replaces the expired key', async () => {
    await open(5);
    const [outcome] = await beside(async (manager) => {
      await storage.store(OutboxStore).commit([aSend(1, { once: onceKey({ expiresAt: START + 1 }) })], decide);
      return storage.store(OutboxStore).commit([aSend(2, { at: START + 2, once: onceKey() })], decide, { manager });
    });
    expect(outcome?.kind).toBe('accepted');
  });

  test('a host transaction with an older snapshot still counts in the record that was created meanwhile', async () => {
    await open(5);
    const policySend = (index: number) => aSend(index, { policy: counting('new', messageId(index), 1) });
    const outcomes = await beside(async (manager) => {
      await manager.query('SELECT count(*) FROM messaging_policy');
      await storage.store(OutboxStore).commit([policySend(1)], decide);
      return storage.store(OutboxStore).commit([policySend(2), aSend(3)], decide, { manager });
    });
    expect(outcomes).toMatchObject([
      { kind: 'refused', why: 'policy', refusal: { values: { count: 2 } } },
      { kind: 'accepted' },
    ]);
  });

  test('an account that a host transaction locks is busy, and no other one is', async () => {
    await open(5);
    await storage.store(AccountStore).createAccount({ id: 'other', name: 'B', createdAt: START });
    await storage.store(LedgerStore).post({ id: 'q', accountId: 'other', kind: 'topup', units: 1, at: START });
    const outcomes = await beside(async (manager) => {
      await storage.store(OutboxStore).commit([aSend(1)], decide, { manager });
      const sends = [aSend(2), aSend(3, { accountId: 'other' })];
      return storage.store(OutboxStore).commit(sends, decide, undefined, 'none');
    });
    expect(outcomes.map(({ kind }) => kind)).toEqual(['busy', 'accepted']);
    expect(await storage.store(LedgerStore).balance(ACCOUNT)).toBe(5);
  });

  test('several sends in one transaction of the host are charged one after the other, each in full', async () => {
    await open(3);
    await host.transaction(async (manager) => {
      const commit = (...indexes: number[]) =>
        storage.store(OutboxStore).commit(
          indexes.map((index) => aSend(index)),
          decide,
          { manager },
        );
      await commit(1);
      await expect(commit(6, 1)).rejects.toThrow();
      const outcomes = await Promise.all([2, 3, 4, 5].map((index) => commit(index)));
      expect(outcomes.flat().filter(({ kind }) => kind === 'accepted')).toHaveLength(2);
    });
    expect([await storage.store(LedgerStore).balance(ACCOUNT), await storage.store(LedgerStore).check()]).toEqual([
      0,
      [],
    ]);
    expect(await storage.store(OutboxStore).find(ACCOUNT, 'sms', messageId(6))).toBeUndefined();
  });

  test('a deadlock ends the host’s transaction: its commit fails, and nothing that was done in it or after it is kept', async () => {
    await open(10);
    await storage.store(AccountStore).createAccount({ id: 'b', name: 'B', createdAt: START });
    await storage.store(LedgerStore).post({ id: 'q', accountId: 'b', kind: 'topup', units: 10, at: START });
    const bothHaveOne = new Gate();
    let firsts = 0;
    const transact = (index: number, mine: string, other: string) =>
      host.transaction(async (manager) => {
        await storage.store(OutboxStore).commit([aSend(index, { accountId: mine })], decide, { manager });
        if (++firsts === 2) bothHaveOne.open();
        await bothHaveOne.opened;
        const refused = await storage
          .store(OutboxStore)
          .commit([aSend(index + 1, { accountId: other })], decide, { manager })
          .then(() => false)
          .catch(() => true);
        if (!refused) return;
        // As a careless host would: it goes on, and commits.
        await storage
          .store(OutboxStore)
          .commit([aSend(index + 2, { accountId: mine })], decide, { manager })
          .catch(() => undefined);
      });
    const ends = await Promise.allSettled([transact(10, ACCOUNT, 'b'), transact(20, 'b', ACCOUNT)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const won = ends[0]?.status === 'fulfilled' ? 10 : 20;
    const stored = await host.query('SELECT id FROM messaging_message ORDER BY id');
    expect(stored.map(({ id }: { id: string }) => id)).toEqual([messageId(won), messageId(won + 1)]);
    expect([await storage.store(LedgerStore).balance(ACCOUNT), await storage.store(LedgerStore).balance('b')]).toEqual([
      9, 9,
    ]);
    expect(await storage.store(LedgerStore).check()).toEqual([]);
  });

  test('a posting that was made meanwhile is found by a host transaction with an older snapshot', async () => {
    await open(5);
    const posting = { id: 'invoice', accountId: ACCOUNT, kind: 'topup', units: 3, at: START } as const;
    const answers = await beside(async (manager) => {
      await manager.query('SELECT count(*) FROM messaging_ledger');
      return [
        await storage.store(LedgerStore).post(posting),
        await storage.store(LedgerStore).post(posting, { manager }),
      ];
    });
    expect(answers).toEqual(['posted', 'repeated']);
  });

  test('a debit that conflicts with one made meanwhile is repeated in a host transaction, not refused for the balance it left', async () => {
    await open(5);
    const posting = { id: 'fee', accountId: ACCOUNT, kind: 'adjust', units: -4, at: START } as const;
    const answers = await beside(async (manager) => {
      await manager.query('SELECT count(*) FROM messaging_ledger');
      return [
        await storage.store(LedgerStore).post(posting),
        await storage.store(LedgerStore).post(posting, { manager }),
      ];
    });
    expect(answers).toEqual(['posted', 'repeated']);
  });

  test('a value that is too long is refused and not cut off', async () => {
    await open(5);
    const account = { id: 'x'.repeat(192), name: 'B', createdAt: START };
    await expect(storage.store(AccountStore).createAccount(account)).rejects.toThrow(/ER_DATA_TOO_LONG/);
    await storage.store(AccountStore).createAccount({ ...account, id: 'x'.repeat(191) });
    const [outcome] = await storage.store(OutboxStore).commit([aSend(1, { accountId: account.id })], decide);
    expect(outcome?.kind).toBe('refused');
    await expect(storage.store(OutboxStore).commit([aSend(1, { sender: 'y'.repeat(256) })], decide)).rejects.toThrow();
    expect(await storage.store(LedgerStore).balance(ACCOUNT)).toBe(5);
  });

  test('an update locks its recipients and leaves their messages to others', async () => {
    await open(5);
    await storage.store(OutboxStore).commit([aSend(1)], decide);
    const [moved] = await beside(async (manager) => {
      await manager.query('SELECT id FROM messaging_message FOR UPDATE');
      const order = { channel: 'sms', limit: 5, now: START, leaseUntil: START + 1, abandoned: false };
      expect(await storage.store(OutboxStore).claim(order)).toHaveLength(1);
      const sent = { messageId: messageId(1), position: 0, status: 'sent', attempt: 1, at: START } as const;
      return storage.store(OutboxStore).settle([sent]);
    });
    expect(moved?.status).toBe('sent');
  });
});
