import { describe, expect, test } from '@jest/globals';
import { SECOND_MS } from '../../../src/common/time.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { range, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createMariadbDatabase } from '../../support/databases/mariadb.js';
import { connectPostgres, createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { Backlog, FEW, SHARED } from '../../support/outbox/backlog.js';
import { mariadbReads, postgresReads } from '../../support/storage/rows-read.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

/**
 * A backlog in a database of its own. `read` counts the index entries that are read of the queues, or of the given
 * index.
 */
async function onOwnPostgres(column = 'idx_tup_read', index = 'messaging_recipient_queue') {
  const database = await createPostgresDatabase();
  opened({ close: () => database.drop() });
  // A connection that ends reports its counters to the server.
  const extra = { max: 1, idleTimeoutMillis: 1 };
  const backlog = opened(await Backlog.open({ type: 'postgres', url: database.url, extra }));
  const connect = async () => opened(await connectPostgres(database.url));
  const counter = `SELECT ${column} AS read FROM pg_stat_user_indexes WHERE indexrelname = '${index}'`;
  const { rowsRead: read } = opened(await postgresReads(database.url, counter));
  return { backlog, connect, read };
}

onPostgres('on PostgreSQL', () => {
  test('a claim finds all accounts and abandoned deliveries without reading a backlog', async () => {
    const { backlog, read } = await onOwnPostgres();
    let accounts: readonly string[] = [];
    const claim = async () => {
      accounts = await backlog.accounts();
    };
    expect(await read(claim)).toBeLessThan(FEW);
    expect(accounts).toEqual(SHARED);
    expect(await read(() => backlog.look())).toBeLessThan(FEW);
  });

  test('a claim updates the rows that it has locked without searching for their keys', async () => {
    const { backlog, read: lookUps } = await onOwnPostgres('idx_scan', 'messaging_recipient_pkey');
    const claim = async () => expect(await backlog.claim({ limit: 500 })).toHaveLength(500);
    expect(await lookUps(claim)).toBe(0);
  });

  test('a claim, an expiry and a look skip deliveries that were claimed since a snapshot that another session holds', async () => {
    const { backlog, connect, read } = await onOwnPostgres();
    await (await connect()).query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    const outbox = backlog.storage.store(OutboxStore);
    let now = START;
    const pass = async (accountId: string, count: number) => {
      await backlog.accept(accountId, count, now);
      const claimed = await backlog.claim({ now, limit: 10_000, leaseUntil: now + 50 * SECOND_MS, abandoned: true });
      await outbox.settle(claimed.map((each) => ({ ...each, status: 'sent', at: now, dueAt: now + 600 * SECOND_MS })));
      await outbox.settle(claimed.map((each) => ({ ...each, status: 'delivered', at: now })));
      return claimed.length;
    };
    // Each entry stays in the index: for what waited, what was being sent, and what waited for a report.
    for (const _ of range(15)) {
      now += 20 * SECOND_MS;
      await pass('large', 2000);
    }
    now += 20 * SECOND_MS;
    // This one may be the look without floors.
    const round = async () => {
      expect(await pass('large', 1)).toBe(1);
      expect(await pass('small', 1)).toBe(1);
      await outbox.expire({ channel: 'sms', limit: 10, now, statuses: ['sent'] });
      await outbox.nextDue('sms');
    };
    await round();
    const few = await read(async () => {
      for (const _ of range(5)) {
        now += SECOND_MS;
        await round();
      }
    });
    expect(few).toBeLessThan(FEW);
  });

  test('the claims of one campaign skip what they have claimed of it, while another session holds a snapshot', async () => {
    const { backlog, connect, read } = await onOwnPostgres();
    await (await connect()).query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    const outbox = backlog.storage.store(OutboxStore);
    const now = START + SECOND_MS;
    await backlog.accept('small', 10_000, now);
    const claim = async () => {
      const claimed = await backlog.claim({ now, limit: 1000, leaseUntil: now + 50 * SECOND_MS });
      await outbox.settle(claimed.map((each) => ({ ...each, status: 'delivered', at: now })));
      return claimed.length;
    };
    for (const _ of range(8)) expect(await claim()).toBe(1000);
    const few = await read(async () => {
      for (const _ of range(4)) expect(await claim()).toBe(1000);
    });
    // The claimed ones, and those before them that were due in the same millisecond. All would be 80 000.
    expect(few).toBeLessThan(12_000);
  });
});

onMariadb('on MariaDB', () => {
  test('a claim finds all accounts and abandoned deliveries without reading a backlog', async () => {
    const database = await createMariadbDatabase();
    opened({ close: () => database.drop() });
    // One connection, so that its counters are those of the storage.
    const backlog = opened(await Backlog.open({ type: 'mysql', url: database.url, extra: { connectionLimit: 1 } }));
    const read = mariadbReads(backlog.database);
    let accounts: readonly string[] = [];
    for (const known of [false, true]) {
      if (known) await backlog.database.query('ANALYZE TABLE messaging_recipient');
      const claim = async () => {
        accounts = await backlog.accounts();
      };
      expect(await read(claim)).toBeLessThan(FEW);
      expect(accounts).toEqual(known ? Array.from({ length: 10 }, () => 'large') : SHARED);
      expect(await read(() => backlog.look())).toBeLessThan(FEW);
    }
  });
});
