import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { doctorRules, isOfServer } from '../../support/accounts/doctor-suite.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { LOCKING_SERVERS } from '../../support/databases/held-row.js';
import { hasServer } from '../../support/databases/servers.js';

const opened = closeAfterEach();

for (const [name, { type, port, create }] of Object.entries(LOCKING_SERVERS)) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;
  suite(`the doctor on ${name}`, () => {
    const open = async () => {
      const { url, drop } = await create();
      opened({ close: drop });
      const options: DataSourceOptions = { type, url, applicationName: 'the host' };
      const dataSource = await new DataSource(options).initialize();
      opened({ close: () => dataSource.destroy() });
      return dataSource;
    };

    doctorRules(open);

    test('names the oldest transaction', async () => {
      const dataSource = await open();
      const storage = new TypeormStorage({ database: dataSource });
      await storage.start();
      const runner = dataSource.createQueryRunner();
      await runner.startTransaction('REPEATABLE READ');
      await runner.query('SELECT * FROM messaging_recipient');
      const who = type === 'postgres' ? 'process \\d+, application "the host", idle in transaction' : 'connection \\d+';
      const sentence = new RegExp(`^The oldest transaction is \\d+ s old: ${who}\\.$`);
      // MariaDB keeps its list of transactions until nobody has read it for 0.1 s, and other suites read it too.
      await until(
        async () => {
          await pause(200);
          return (await storage.examine()).map(({ text }) => text);
        },
        (texts) => texts.some((text) => sentence.test(text)),
      );
      await runner.rollbackTransaction();
      await runner.release();
      await storage.stop();
    });

    test('reports a clock that is ten minutes ahead', async () => {
      const storage = new TypeormStorage({ database: await open() });
      await storage.start();
      const real = Date.now.bind(Date);
      const now = jest.spyOn(Date, 'now').mockImplementation(() => real() + 600_000);
      const findings = await storage.examine();
      now.mockRestore();
      const [todo, ...others] = findings.filter((finding) => finding.todo && !isOfServer(finding.text));
      expect(todo?.text).toMatch(
        /^The clock of this machine is (599|600)\d{3} ms ahead of the database's\. Set both by NTP\.$/,
      );
      expect(others).toEqual([]);
      await storage.stop();
    });
  });
}

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;

onPostgres('the doctor on PostgreSQL', () => {
  test('finds a half-built index', async () => {
    const { url, drop } = (await LOCKING_SERVERS.PostgreSQL?.create()) ?? { url: '', drop: async () => undefined };
    opened({ close: drop });
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
    opened({ close: () => dataSource.destroy() });
    const storage = new TypeormStorage({ database: dataSource });
    await storage.start();
    await dataSource.query(
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'messaging_recipient_turn'::regclass",
    );
    const todos = (await storage.examine())
      .filter(({ text, todo }) => todo && !isOfServer(text))
      .map(({ text }) => text);
    expect(todos).toEqual([
      'The index messaging_recipient_turn is half built and not used: run REINDEX INDEX CONCURRENTLY messaging_recipient_turn.',
    ]);
    await storage.stop();
  });
});
