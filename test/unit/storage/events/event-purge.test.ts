import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { EventLog } from '../../../../src/events/event-log.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { range, START } from '../../../contract/storage/fixtures.js';

/** The number that one call of a purge looks at. */
const PAGE = 500;

test('a purge that reaches its limit in the last log of a page continues in that log', async () => {
  const database = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  const storage = new TypeormStorage({ database });
  await storage.start();
  const log = storage.store(EventLog);
  const accounts = range(PAGE + 1).map((index) => `account-${String(index).padStart(4, '0')}`);
  for (const id of accounts) {
    const counter = '(id, sequence, began, earliest, recording, used_at) VALUES (?, 5, 1, 1, 1, 0)';
    await database.query(`INSERT INTO messaging_event_counter ${counter}`, [id]);
  }
  const last = accounts[PAGE - 1];
  for (const index of range(5)) {
    const event = "(account_id, sequence, type, at, data) VALUES (?, ?, 'message.sent', ?, '{}')";
    await database.query(`INSERT INTO messaging_event ${event}`, [last, index + 1, START]);
  }
  for (let removed = 2; removed >= 2; ) removed = await log.purge(START + 1, 2);
  expect(await database.query('SELECT sequence FROM messaging_event')).toEqual([]);
  await storage.stop();
  await database.destroy();
});
