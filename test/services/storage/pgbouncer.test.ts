import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Client } from 'pg';
import { SystemClock } from '../../../src/common/clock.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { PostgresNotifier } from '../../../src/notifiers/postgres-notifier.js';
import { describeStorage } from '../../contract/storage/storage-contract.js';
import { checkLedger, expectExactlyTheBalance, expectOneSend } from '../../support/accounts/money-races.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { hasPgBouncer, PgBouncer } from '../../support/databases/pgbouncer.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { openPostgres } from '../../support/databases/sql-harness.js';
import { sendSms, tallyOf } from '../../support/http/sms-client.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';

const available = (await hasServer('PostgreSQL', 5432)) && hasPgBouncer();
const suite = available ? describe : describe.skip;

const database = available ? await createPostgresDatabase() : undefined;
const bouncer = available ? await PgBouncer.start(30) : undefined;

afterAll(async () => {
  await bouncer?.close();
  await database?.drop();
});

suite('storage', () => {
  const open = () => openPostgres(bouncer?.before(database?.url ?? '') ?? '', { pooler: 'transaction' });
  describeStorage('PgBouncer in transaction mode', open, { describe, test, beforeEach, afterEach });
});

suite('PgBouncer in transaction mode', () => {
  const opened = closeAfterEach();
  /** Three connections for all, so a setting that is left on one reaches others. */
  async function openFew() {
    const { url, drop } = await createPostgresDatabase();
    opened({ close: drop });
    const few = opened(await PgBouncer.start(3));
    return { url, pooled: few.before(url) };
  }

  async function start(url: string, units = 1000): Promise<MessagingApp> {
    const storage = { useValue: new TypeormStorage({ database: url, pooler: 'transaction' }) };
    return opened(await startMessaging('fastify', { storage }, { units }));
  }

  test('without the option, the start is refused with a sentence that names it', async () => {
    const { pooled } = await openFew();
    await expect(new TypeormStorage({ database: pooled }).start()).rejects.toThrow(
      'Option storage: what answers there refuses our settings; before a pooler in transaction mode give pooler: "transaction" (08P01).',
    );
  });

  test('over two instances and three connections, exactly as much is sent as the balance pays for, and one send per key', async () => {
    const { pooled } = await openFew();
    const first = await start(pooled, 100);
    await expectExactlyTheBalance([first, await start(pooled)]);
    await expectOneSend([await start(pooled), await start(pooled)]);
    expect(await checkLedger([first])).toEqual([]);
  });

  test('leaves no setting on the connections that others get', async () => {
    const { url, pooled } = await openFew();
    const app = await start(pooled);
    const sent = await Promise.all(Array.from({ length: 40 }, () => sendSms(app)));
    expect(tallyOf(sent)).toEqual({ '200': 40 });
    const untouched = await settingsOf(url);
    for (let time = 0; time < 10; time++) {
      const seen = await Promise.all([1, 2, 3].map(() => settingsOf(pooled)));
      expect(seen).toEqual([untouched, untouched, untouched]);
    }
  });

  test('a notifier behind it says once that it cannot work, and accepted messages are delivered by polling', async () => {
    const lines: string[] = [];
    Logger.overrideLogger({ log: () => {}, error: () => {}, warn: (line: unknown) => lines.push(String(line)) });
    opened({ close: () => Logger.overrideLogger(new Logger()) });
    const { url, pooled } = await openFew();
    const notifier = (to: string) => opened(shuttable(to));
    const deaf = notifier(pooled);
    const warnings = () => lines.filter((line) => line.includes('pooler in transaction mode'));
    await until(() => warnings().length > 0);
    const heard: string[] = [];
    const direct = [notifier(url), notifier(url)] as const;
    direct[0].listen('key', (id) => heard.push(id));
    await until(() => {
      direct[1].publish('key', 'k1');
      deaf.publish('key', 'k2');
      return heard.length > 0;
    });
    expect(new Set(heard)).toEqual(new Set(['k1']));
    expect(warnings()).toHaveLength(1);
  });
});

function shuttable(url: string): PostgresNotifier & { close(): Promise<void> } {
  const notifier = new PostgresNotifier({ url }, new SystemClock(), new UuidGenerator());
  notifier.onApplicationBootstrap();
  return Object.assign(notifier, { close: () => notifier.onApplicationShutdown() });
}

/** The settings that a transaction finds on the connection that it gets. */
async function settingsOf(url: string): Promise<unknown> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('BEGIN');
    // They differ from connection to connection by themselves.
    const own = ['transaction_isolation', 'application_name'];
    const { rows } = await client.query(
      'SELECT name, setting FROM pg_settings WHERE NOT name = ANY ($1) ORDER BY name',
      [own],
    );
    await client.query('SELECT pg_sleep(0.02)');
    await client.query('COMMIT');
    return rows;
  } finally {
    await client.end();
  }
}
