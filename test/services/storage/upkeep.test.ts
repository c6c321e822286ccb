import { describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';

const opened = closeAfterEach();
const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;

onPostgres('on PostgreSQL', () => {
  test('autovacuum begins early on tables whose rows change, and settings of an operator stay', async () => {
    const { url, drop } = await createPostgresDatabase();
    opened({ close: drop });
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
    opened({ close: () => dataSource.destroy() });
    const settingsOf = async (table: string): Promise<readonly string[]> => {
      const [row] = await dataSource.query(`SELECT reloptions AS settings FROM pg_class WHERE relname = '${table}'`);
      return row.settings;
    };
    await new TypeormStorage({ database: dataSource }).start();
    expect(await settingsOf('messaging_recipient')).toContain('autovacuum_vacuum_scale_factor=0.01');
    expect(await settingsOf('messaging_account')).toContain('fillfactor=50');
    await dataSource.query('ALTER TABLE messaging_account SET (fillfactor = 70)');
    await new TypeormStorage({ database: dataSource }).start();
    expect(await settingsOf('messaging_account')).toContain('fillfactor=70');
  });
});
