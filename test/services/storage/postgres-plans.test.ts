import { describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { ACCOUNT, aSend, range, START } from '../../contract/storage/fixtures.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { connectPostgres, createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;

/** More executions than a connection needs to keep a plan. */
const ROUNDS = 12;
/** The contents of the tables by then. */
const ROWS = 20_000;

const opened = closeAfterEach();

/** A storage in a database of its own, and a connection that observes it. */
async function start() {
  const database = await createPostgresDatabase();
  opened({ close: () => database.drop() });
  const storage = new TypeormStorage({ database: database.url });
  await storage.start();
  const connect = async () => opened(await connectPostgres(database.url));
  const observer = await connect();
  const query = async (sql: string): Promise<Record<string, string>[]> => (await observer.query(sql)).rows;
  // Anything that the server does by itself would cause statements to be planned again.
  for (const table of ['message', 'recipient', 'ledger', 'policy', 'account']) {
    await query(`ALTER TABLE messaging_${table} SET (autovacuum_enabled = false)`);
  }
  return { storage, query, connect };
}

onPostgres('reads by keys that never read a whole table', () => {
  test('include a queue that fills up after its statements were planned: messages are accepted, claimed and settled', async () => {
    const { storage, query } = await start();
    const accounts = storage.store(AccountStore);
    const ledger = storage.store(LedgerStore);
    const outbox = storage.store(OutboxStore);
    const policies = storage.store(PolicyStore);
    await accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10 ** 6, at: START });
    const deliver = async (round: number): Promise<void> => {
      const now = START + round;
      await outbox.commit(
        range(3).map((index) => aSend(10 * round + index, { at: now })),
        decide,
      );
      const order = { channel: 'sms', limit: 100, now, leaseUntil: now + 10 ** 9, abandoned: false };
      const claimed = await outbox.claim(order);
      expect(claimed).toHaveLength(3);
      const moved = await outbox.settle(claimed.map((each) => ({ ...each, status: 'delivered' as const, at: now })));
      expect(moved).toHaveLength(3);
      const record = { state: { round }, messages: [], expiresAt: START + 10 ** 9 };
      await policies.change(['key-1', 'key-2'], () => ({
        result: undefined,
        changes: new Map(['key-1', 'key-2'].map((key) => [key, record])),
      }));
    };

    for (const round of range(ROUNDS)) await deliver(round);
    await query(`INSERT INTO messaging_message (id, account_id, channel, kind, sender, payload, units, refunded_units, accepted_at)
      SELECT 'old-' || i, 'another', 'sms', 'text', 'A', '{}', 1, 0, i FROM generate_series(1, ${ROWS}) i`);
    await query(`INSERT INTO messaging_recipient (message_id, position, channel, number, units, refunded_units, status, attempt, updated_at)
      SELECT 'old-' || i, 0, 'sms', '1', 1, 0, 'delivered', 1, i FROM generate_series(1, ${ROWS}) i`);
    await query(`INSERT INTO messaging_policy (id, version, state, messages, expires_at)
      SELECT 'old-' || i, 0, '{}', '[]', ${START + 10 ** 9} FROM generate_series(1, ${ROWS}) i`);
    for (const round of range(ROUNDS)) await deliver(ROUNDS + round);
    // A connection that ends reports its counters to the server.
    await storage.stop();

    const counts = () =>
      query(`SELECT relname AS table, seq_tup_read AS read_whole, coalesce(idx_tup_fetch, 0) AS by_key
        FROM pg_stat_user_tables WHERE relname IN ('messaging_message', 'messaging_recipient', 'messaging_policy')`);
    const isCounted = (rows: Record<string, string>[]) =>
      rows.every(({ by_key: byKey, read_whole: readWhole }) => Number(byKey) + Number(readWhole) >= 2 * ROUNDS);
    for (const { table, read_whole: readWhole } of await eventually(counts, isCounted)) {
      expect([table, Number(readWhole) < ROWS]).toEqual([table, true]);
    }
  });

  test('include due deliveries among any number of waiting ones: a claim, an expiry and a look read only their own', async () => {
    const { storage, query, connect } = await start();
    // Reads skip dead index entries once no transaction of the server can see their rows, so open transactions of other
    // tests would change the counts. With this snapshot all entries are counted.
    await (await connect()).query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
    const accounts = storage.store(AccountStore);
    const ledger = storage.store(LedgerStore);
    const outbox = storage.store(OutboxStore);
    await accounts.createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await ledger.post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10 ** 6, at: START });
    const fill = (status: string) =>
      query(`INSERT INTO messaging_recipient (message_id, position, channel, number, units, refunded_units, status, attempt, due_at, updated_at)
        SELECT '${status}', i, 'sms', '1', 0, 0, '${status}', 1, i, i FROM generate_series(1, ${ROWS}) i`);
    // Long overdue, and before the due ones.
    await fill('sent');
    for (const round of range(ROUNDS)) {
      const now = START + round;
      await outbox.commit([aSend(round, { at: now })], decide);
      expect(await outbox.claim({ channel: 'sms', limit: 100, now, leaseUntil: now, abandoned: true })).not.toEqual([]);
    }
    await fill('queued');
    for (const round of range(ROUNDS)) {
      const now = START + ROUNDS + round;
      await outbox.expire({ channel: 'sms', limit: 100, now, statuses: ['sending'] });
      expect(await outbox.nextDue('sms')).toBe(1);
    }
    await storage.stop();
    const counts = () =>
      query(`SELECT i.idx_tup_read AS read, i.idx_scan AS scans, t.seq_tup_read AS read_whole
        FROM pg_stat_user_indexes i JOIN pg_stat_user_tables t ON t.relid = i.relid
        WHERE i.indexrelname = 'messaging_recipient_queue'`);
    const isCounted = ([row]: Record<string, string>[]) => Number(row?.scans) >= 4 * ROUNDS;
    const [row] = await eventually(counts, isCounted);
    // Each claim renews all leases so far, so it reads the entries that are sending after this many rounds.
    const sending = (rounds: number) => (rounds * (rounds + 1)) / 2;
    const claims = range(ROUNDS).reduce((sum, round) => sum + (round + 1) + sending(round), 0);
    const expiriesAndLooks = ROUNDS * (sending(ROUNDS) + (sending(ROUNDS) + 2));
    expect(Number(row?.read)).toBeLessThanOrEqual(claims + expiriesAndLooks);
    expect(Number(row?.read_whole)).toBeLessThan(ROWS);
  });

  test('include accounts, of which there are many when a commit is planned', async () => {
    const { storage, query } = await start();
    await query(`INSERT INTO messaging_account (id, name, balance, created_at)
      SELECT 'account-' || i, 'A', 1000, i FROM generate_series(1, ${ROWS}) i`);
    const commit = (index: number, ...payers: number[]) =>
      storage.store(OutboxStore).commit(
        payers.map((payer) => aSend(10 * index + payer, { accountId: `account-${payer}` })),
        decide,
        undefined,
        'none',
      );
    for (const index of range(ROUNDS)) {
      const outcomes = [await commit(index, 1), await commit(ROUNDS + index, 2, 3)].flat();
      expect(outcomes.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
    }
    await storage.stop();
    const counts = () =>
      query(`SELECT seq_tup_read AS read_whole, coalesce(idx_tup_fetch, 0) AS by_key
        FROM pg_stat_user_tables WHERE relname = 'messaging_account'`);
    const isCounted = ([row]: Record<string, string>[]) => Number(row?.by_key) + Number(row?.read_whole) >= 3 * ROUNDS;
    const [row] = await eventually(counts, isCounted);
    expect(Number(row?.read_whole) < ROWS).toBe(true);
  });
});
