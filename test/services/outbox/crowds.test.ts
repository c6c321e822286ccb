import { describe, expect, test } from '@jest/globals';
import { DataSource, type QueryRunner } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend, range, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { eventPublisher } from '../../support/events/event-publisher.js';

const CROWD = 300;
/** The connections of a pool whose size is not configured. */
const POOL = 10;

const opened = closeAfterEach();

const SERVERS = [
  {
    name: 'PostgreSQL',
    type: 'postgres',
    port: 5432,
    create: createPostgresDatabase,
    lockTable: 'LOCK TABLE messaging_message IN ACCESS EXCLUSIVE MODE',
  },
  {
    name: 'MariaDB',
    type: 'mysql',
    port: 3306,
    create: createMariadbDatabase,
    lockTable: 'LOCK TABLES messaging_message WRITE',
  },
] as const;

for (const { name, type, port, create, lockTable } of SERVERS) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;

  suite(`many requests of one account on ${name}`, () => {
    /** A storage on a pool whose connections are counted, and a separate connection for somebody who holds a lock. */
    async function start() {
      const database = await create();
      opened({ close: () => database.drop() });
      const options = { type, url: database.url };
      const pool = await new DataSource(options).initialize();
      opened({ close: () => pool.destroy() });
      const held = countHeld(pool);
      const storage = new TypeormStorage({ database: pool });
      await storage.start();
      opened({ close: () => storage.stop() });
      for (const id of [ACCOUNT, 'acc2']) {
        await storage.store(AccountStore).createAccount({ id, name: id, createdAt: START });
        await storage
          .store(LedgerStore)
          .post({ id: `funds-${id}`, accountId: id, kind: 'topup', units: 1000, at: START });
      }
      const other = await new DataSource(options).initialize();
      opened({ close: () => other.destroy() });
      const holder = other.createQueryRunner();
      opened({ close: () => holder.release() });
      held.most = 0;
      return { storage, holder, held };
    }

    test('with postings that wait for the locked row leave connections to others, and each is posted', async () => {
      const { storage, holder, held } = await start();
      const ledger = new LedgerService(
        storage.store(LedgerStore),
        new FakeClock(),
        new UuidGenerator(),
        eventPublisher(),
      );
      await holder.startTransaction();
      await holder.query(`SELECT id FROM messaging_account WHERE id = '${ACCOUNT}' FOR UPDATE`);
      const postings = range(CROWD).map((index) =>
        storage
          .store(LedgerStore)
          .post({ id: `p${index}`, accountId: ACCOUNT, kind: 'topup', units: 1, at: START + index }),
      );
      await new Promise((resolve) => setImmediate(resolve));
      expect(await storage.store(LedgerStore).balance('acc2')).toBe(1000);
      expect(await ledger.topUp('acc2', 5)).toBe(1005);
      const [sent] = await storage.store(OutboxStore).commit([aSend(1, { accountId: 'acc2' })], decide);
      expect(sent?.kind).toBe('accepted');
      await holder.commitTransaction();
      expect(new Set(await Promise.all(postings))).toEqual(new Set(['posted']));
      expect(held.most).toBeLessThanOrEqual(5);
      expect([await storage.store(LedgerStore).balance(ACCOUNT), await storage.store(LedgerStore).check()]).toEqual([
        1000 + CROWD,
        [],
      ]);
    });

    test('with 300 top-ups and adjustments through the service are all served', async () => {
      const { storage } = await start();
      const ledger = new LedgerService(
        storage.store(LedgerStore),
        new FakeClock(),
        new UuidGenerator(),
        eventPublisher(),
      );
      const results = await Promise.allSettled(
        range(CROWD).map((index) => (index % 2 === 0 ? ledger.topUp(ACCOUNT, 2) : ledger.adjust(ACCOUNT, -1))),
      );
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);
      expect([await storage.store(LedgerStore).balance(ACCOUNT), await storage.store(LedgerStore).check()]).toEqual([
        1150,
        [],
      ]);
    });

    test('with listings while its tables are locked leave connections to others, and each is served', async () => {
      const { storage, holder, held } = await start();
      await storage.store(OutboxStore).commit([aSend(1)], decide);
      held.most = 0;
      await holder.startTransaction();
      await holder.query(lockTable);
      const query = { accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 50 };
      const listings = range(CROWD).map((index) =>
        storage.store(OutboxStore).list(index % 2 === 0 ? query : { ...query, status: 'queued' }),
      );
      await new Promise((resolve) => setImmediate(resolve));
      for (let round = 0; round < 5; round++) expect(await storage.store(LedgerStore).balance('acc2')).toBe(1000);
      await holder.commitTransaction();
      if (type === 'mysql') await holder.query('UNLOCK TABLES');
      const pages = await Promise.all(listings);
      expect(pages.every(({ items }) => items.length === 1)).toBe(true);
      expect(held.most).toBeLessThanOrEqual(POOL / 2);
    });
  });
}

/** Counts the connections that are requested or held at a time. */
function countHeld(pool: DataSource): { most: number } {
  const counts = { most: 0 };
  let now = 0;
  const create = pool.createQueryRunner.bind(pool);
  pool.createQueryRunner = (...args): QueryRunner => {
    const runner = create(...args);
    const release = runner.release.bind(runner);
    counts.most = Math.max(counts.most, ++now);
    runner.release = async () => {
      now--;
      await release();
    };
    return runner;
  };
  return counts;
}
