import { expect, test } from '@jest/globals';
import { PartStore } from '../../../../src/sms/receipts/part-store.js';
import { SqliteDialect } from '../../../../src/storage/sqlite/sqlite-dialect.js';
import { aReceipt, aTakenSms } from '../../../contract/storage/fixtures.js';
import { StaleDatabase } from '../../../support/databases/naive-storage.js';
import { SqliteMemory } from '../../../support/databases/sqlite-memory.js';

class NodeDialect extends SqliteDialect {
  constructor(override readonly locksOneNode: boolean) {
    super();
  }
}

/** Each transaction misses what another one writes at the same time, as on two nodes. */
class NodesDatabase extends StaleDatabase {
  constructor(
    storage: SqliteMemory,
    override readonly dialect: NodeDialect,
  ) {
    super(storage.database);
  }
}

/** The result for a part whose receipt arrives on another node at the same moment. */
async function statusAfterRace(locksOneNode: boolean): Promise<string | undefined> {
  const storage = await SqliteMemory.open();
  const store = new PartStore(new NodesDatabase(storage, new NodeDialect(locksOneNode)));
  const sms = aTakenSms(1);
  const now = sms.at;
  await Promise.all([
    store.record([sms], now),
    store.receive([aReceipt('id-1')], { now, until: now + 600_000, most: 10 }),
  ]);
  const [part] = await store.parts(sms.messageId);
  return part?.status;
}

test('a receipt that another node parks while its part is being recorded is applied to it', async () => {
  expect(await statusAfterRace(true)).toBe('delivered');
});

test('if locks are shared by all nodes, nobody looks twice, and such a race exists only in a test', async () => {
  expect(await statusAfterRace(false)).toBe('sent');
});

test('a receipt whose part nobody records stays parked', async () => {
  const storage = await SqliteMemory.open();
  const store = new PartStore(new NodesDatabase(storage, new NodeDialect(true)));
  const { at: now, messageId } = aTakenSms(1);
  await store.receive([aReceipt('id-1')], { now, until: now + 600_000, most: 10 });
  await store.record([aTakenSms(2)], now);
  await store.record([aTakenSms(1)], now);
  expect((await store.parts(messageId)).map(({ status }) => status)).toEqual(['delivered']);
});
