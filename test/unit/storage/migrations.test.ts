import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { receiptKey } from '../../../src/sms/receipts/sms-part.js';
import { SqliteDialect } from '../../../src/storage/typeorm/dialects/sqlite-dialect.js';
import { messagingMigrations } from '../../../src/storage/typeorm/schema/migrate.js';
import { schemaVersions } from '../../../src/storage/typeorm/schema/schema.js';
import { TypeormStorage } from '../../../src/storage/typeorm/typeorm-storage.js';
import { aReceipt, aTakenSms, messageId, START } from '../../../src/testing/storage-contract/fixtures.js';
import { DUE_AFTER_UPGRADE, dueAfterUpgrade } from '../../support/due-upgrade.js';
import { makeSchemaBefore } from '../../support/schema-before.js';

/** A database of the last version before that one. */
async function databaseBefore(version: string): Promise<DataSource> {
  const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  await makeSchemaBefore(dataSource, version);
  return dataSource;
}

test("as a host's migration our schema comes, goes without a trace, and comes again", async () => {
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database: ':memory:',
    migrations: messagingMigrations,
  }).initialize();
  const tables = async () => {
    const rows: { name: string }[] = await dataSource.query("SELECT name FROM sqlite_master WHERE type = 'table'");
    return rows.map(({ name }) => name).filter((name) => name.startsWith('messaging_'));
  };
  await dataSource.runMigrations();
  const made = await tables();
  expect(made).toEqual(expect.arrayContaining(['messaging_account', 'messaging_trail', 'messaging_media_chunk']));
  for (const _ of messagingMigrations) await dataSource.undoLastMigration();
  expect(await tables()).toEqual([]);
  await dataSource.runMigrations();
  expect(await tables()).toEqual(made);
  const storage = new TypeormStorage({ database: dataSource, migrations: 'check' });
  await expect(storage.start()).resolves.toBeUndefined();
  await storage.stop();
  await dataSource.destroy();
});

test('a host that has run the first version runs the later ones after an upgrade', async () => {
  const options = { type: 'better-sqlite3', database: ':memory:' } as const;
  const last = schemaVersions(new SqliteDialect()).at(-1)?.name;
  const after = await new DataSource({ ...options, migrations: messagingMigrations }).initialize();
  await after.query(
    'CREATE TABLE migrations (id integer PRIMARY KEY, timestamp bigint NOT NULL, name varchar NOT NULL)',
  );
  await after.query(
    "INSERT INTO migrations (timestamp, name) VALUES (1763683200000, 'NestjsMessagingSchema1763683200000')",
  );
  const run = await after.runMigrations();
  expect(run).toHaveLength(messagingMigrations.length - 1);
  const rows: { name: string }[] = await after.query('SELECT name FROM messaging_schema');
  expect(rows.map(({ name }) => name)).toContain(last);
  await after.destroy();
});

test('what waited in lanes before they had turns keeps its order; what was sent has left, and what was tried is first', async () => {
  const dataSource = await databaseBefore('0007-lane-order');
  const rows = ['d sent 1 1', 'b queued 0 2', 'a queued 0 3', 'c queued 1 4'].map((row) => row.split(' '));
  for (const [id, status, attempt, at] of rows) {
    await dataSource.query(
      `INSERT INTO messaging_message VALUES ('${id}', 'acc', 'wa', 'text', 'a', 's', '{}', 1, 0, ${at})`,
    );
    await dataSource.query(
      `INSERT INTO messaging_recipient (message_id, position, channel, lane, number, units, refunded_units, status, attempt, due_at, updated_at)
        VALUES ('${id}', 0, 'wa', 'a', '1', 1, 0, '${status}', ${attempt}, 5, 5)`,
    );
  }
  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  const order = { channel: 'wa', lanes: ['a'], limit: 1, now: 9, leaseUntil: 99, abandoned: false };
  const left: string[] = [];
  for (let [head] = await storage.outbox.claim(order); head; [head] = await storage.outbox.claim(order)) {
    left.push(head.messageId);
    await storage.outbox.settle([{ ...head, status: 'sent', at: 9 }]);
  }
  expect(left).toEqual(['c', 'b', 'a']);
  await storage.stop();
  await dataSource.destroy();
});

test('what was due, on its way or waiting for a report before these were told apart is dealt with as ever', async () => {
  const dataSource = await databaseBefore('0012-due-by-status');
  expect(await dueAfterUpgrade(dataSource)).toEqual(DUE_AFTER_UPGRADE);
  const indexes = await dataSource.query("PRAGMA index_info('messaging_recipient_due')");
  expect(indexes.map(({ name }: { name: string }) => name)).toEqual(['channel', 'status', 'due_at']);
  await dataSource.destroy();
});

test('sessions from before those that live could be found apart are listed as ever', async () => {
  const dataSource = await databaseBefore('0011-live-sessions');
  for (const [id, leaseUntil] of ['NULL', '0', 'NULL', 'NULL'].entries()) {
    await dataSource.query(`INSERT INTO messaging_session
      VALUES ('${id}', 'acc', 'wa', 'failed', NULL, NULL, ${id}, NULL, ${id}, 1, NULL, ${leaseUntil}, 1)`);
  }
  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  const indexes = await dataSource.query("PRAGMA index_list('messaging_session')");
  expect(indexes).toContainEqual(expect.objectContaining({ name: 'messaging_session_live', partial: 1 }));
  const listed = await storage.sessions.list('acc', 'wa', 2);
  expect(listed.map(({ id }) => id)).toEqual(['3', '2', '1']);
  await storage.stop();
  await dataSource.destroy();
});

test('what is remembered of numbers and of answered requests outlives the move to tables in the order of arrival', async () => {
  const dataSource = await databaseBefore('0008-random-keys');
  await dataSource.query(`INSERT INTO messaging_guard (id, version, state, messages, expires_at)
    VALUES ('key', 3, '{"tries":2}', '["m"]', 70)`);
  await dataSource.query(`INSERT INTO messaging_idempotency (account_id, route, once_key, fingerprint, reply, expires_at)
    VALUES ('acc', 'POST x', 'k', 'f', '{"success":true}', 80)`);
  const contents = async () => [
    await dataSource.query('SELECT id, version, state, messages, expires_at FROM messaging_guard'),
    await dataSource.query(
      'SELECT account_id, route, once_key, fingerprint, reply, expires_at FROM messaging_idempotency',
    ),
  ];
  const [guards, replies] = await contents();

  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();

  expect(await contents()).toEqual([guards, replies]);
  const indexes = await dataSource.query("SELECT tbl_name FROM sqlite_master WHERE name LIKE 'messaging_%_expiry'");
  const owners = indexes.map(({ tbl_name: table }: { tbl_name: string }) => table);
  expect(owners).toEqual(expect.arrayContaining(['messaging_guard', 'messaging_idempotency']));
  const [{ sql }] = await dataSource.query("SELECT sql FROM sqlite_master WHERE name = 'messaging_guard'");
  expect(sql).not.toMatch(/WITHOUT ROWID/);
  expect(guards).toHaveLength(1);
  expect(replies).toHaveLength(1);
  await storage.stop();
  await dataSource.destroy();
});

test('receipts that waited for their SMS before they were counted by route still find it, and are forgotten in time', async () => {
  const dataSource = await databaseBefore('0010-parked-by-route');
  for (const id of ['id-0', 'id-1']) {
    const receipt = aReceipt(id);
    const row = [receiptKey(receipt), id, 'link', JSON.stringify(receipt), START + 60_000];
    await dataSource.query('INSERT INTO messaging_sms_parked VALUES (?, ?, ?, ?, ?)', row);
  }

  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();

  await storage.parts.receive([aReceipt('id-2')], { now: START, until: START + 60_000, most: 1 });
  await storage.parts.record([aTakenSms(0), aTakenSms(2)], START);
  for (const index of [0, 2])
    expect(await storage.parts.parts(messageId(index))).toMatchObject([{ status: 'delivered' }]);
  expect(await storage.parts.purge(START + 60_000, 9)).toEqual({ parts: 0, receipts: 1 });
  await storage.stop();
  await dataSource.destroy();
});
