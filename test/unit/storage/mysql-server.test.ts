import { describe, expect, test } from '@jest/globals';
import { mysqlServerOf } from '../../../src/storage/typeorm/dialects/mysql-server.js';

const GOOD = { version: '10.11.19-MariaDB-0+deb12u1', sql_mode: 'STRICT_TRANS_TABLES', engine: 'InnoDB' };
const ask = (over: Partial<typeof GOOD>) => mysqlServerOf(async () => [{ ...GOOD, ...over }]);

describe('the server behind a mysql DataSource', () => {
  test.each(['10.6.0-MariaDB', '10.11.19-MariaDB-0+deb12u1', '11.4.2-MariaDB-log', '12.0.1-MariaDB'])(
    'MariaDB %s: its collation, and a bounded wait for locks',
    async (version) => {
      expect(await ask({ version })).toMatchObject({ collation: 'utf8mb4_nopad_bin', lockWait: ' WAIT 5' });
    },
  );

  test.each(['8.0.17', '8.0.36-0ubuntu0.22.04.1', '8.4.3', '9.1.0'])('MySQL %s: its own collation', async (version) => {
    expect(await ask({ version })).toEqual({
      collation: 'utf8mb4_0900_bin',
      lockWait: '',
      insertWait: '',
      idleTimeout: '',
      compounds: false,
    });
  });

  test.each([
    ['STRICT_TRANS_TABLES', true],
    ['PIPES_AS_CONCAT,ORACLE,STRICT_TRANS_TABLES', false],
  ])('MariaDB with sql_mode %s: whether several statements are sent as one', async (sql_mode, compounds) => {
    expect(await ask({ sql_mode })).toMatchObject({ compounds });
  });

  test.each(['10.5.29-MariaDB', '5.5.68-MariaDB', '8.0.16', '5.7.44-log', ''])('%s is too old', async (version) => {
    await expect(ask({ version })).rejects.toThrow(/MariaDB 10\.6 or MySQL 8\.0\.17/);
  });

  test.each([
    [{ sql_mode: 'NO_ENGINE_SUBSTITUTION' }, /STRICT_TRANS_TABLES/],
    [{ sql_mode: 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES' }, /NO_BACKSLASH_ESCAPES/],
    [{ engine: 'MyISAM' }, /InnoDB/],
  ])('%j is refused', async (over, sentence) => {
    await expect(ask(over)).rejects.toThrow(sentence);
  });
});
