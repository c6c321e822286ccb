import { describe, expect, test } from '@jest/globals';
import { mysqlServerOf } from '../../../../src/storage/mysql/mysql-server.js';

const GOOD: Readonly<Record<string, string>> = {
  version: '10.11.19-MariaDB-0+deb12u1',
  autocommit: '1',
  sql_mode: 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION',
  default_storage_engine: 'InnoDB',
  sql_safe_updates: '0',
  sql_auto_is_null: '0',
  sql_select_limit: '18446744073709551615',
  sql_big_selects: '1',
  unique_checks: '1',
  completion_type: 'NO_CHAIN',
  tx_isolation: 'REPEATABLE-READ',
  tx_read_only: '0',
  max_allowed_packet: '16777216',
  innodb_rollback_on_timeout: '0',
};
const ask = (over: Readonly<Record<string, string>>, isOurs = false) => {
  return mysqlServerOf(async () => [{ ...GOOD, ...over }], isOurs);
};

describe('the server behind a mysql DataSource', () => {
  test.each(['10.6.0-MariaDB', '10.11.19-MariaDB-0+deb12u1', '11.4.2-MariaDB-log', '12.0.1-MariaDB'])(
    'MariaDB %s has its own collation and a limited wait for locks',
    async (version) => {
      expect(await ask({ version })).toMatchObject({ collation: 'utf8mb4_nopad_bin', lockWait: ' WAIT 5' });
    },
  );

  test.each(['8.0.17', '8.0.36-0ubuntu0.22.04.1', '8.4.3', '9.1.0'])(
    'MySQL %s has its own collation',
    async (version) => {
      expect(await ask({ version })).toEqual({
        collation: 'utf8mb4_0900_bin',
        lockWait: '',
        insertWait: '',
        setup: '',
        compounds: false,
        isNode: false,
      });
    },
  );

  test.each([
    [[{ Variable_name: 'wsrep_on', Value: 'ON' }], true],
    [[{ Variable_name: 'wsrep_on', Value: 'OFF' }], false],
    [[], false],
  ])('%j shows whether the server is a node of Galera', async (shown, isNode) => {
    const server = await mysqlServerOf(async (sql) => (/wsrep_on/.test(sql) ? shown : [GOOD]));
    expect(server).toMatchObject({ isNode });
  });

  test.each([
    ['STRICT_TRANS_TABLES', true],
    ['PIPES_AS_CONCAT,ORACLE,STRICT_TRANS_TABLES', false],
  ])('MariaDB with sql_mode %s shows whether several statements can be sent as one', async (sql_mode, compounds) => {
    expect(await ask({ sql_mode })).toMatchObject({ compounds });
    // On our own connections we set the mode.
    expect(await ask({ sql_mode }, true)).toMatchObject({ compounds: true });
  });

  test.each(['10.5.29-MariaDB', '5.5.68-MariaDB', '8.0.16', '5.7.44-log', ''])('%s is too old', async (version) => {
    await expect(ask({ version })).rejects.toThrow(/MariaDB 10\.6 or MySQL 8\.0\.17/);
  });

  test.each([
    [{ autocommit: '0' }, /autocommit is OFF, and must be ON/],
    [{ sql_mode: 'NO_ENGINE_SUBSTITUTION' }, /sql_mode lacks STRICT_TRANS_TABLES/],
    [{ sql_mode: '' }, /sql_mode lacks STRICT_TRANS_TABLES/],
    [{ sql_mode: 'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES' }, /NO_BACKSLASH_ESCAPES/],
    [{ sql_mode: 'STRICT_ALL_TABLES,EMPTY_STRING_IS_NULL' }, /EMPTY_STRING_IS_NULL/],
    [{ default_storage_engine: 'MyISAM' }, /default_storage_engine is MyISAM, and must be InnoDB/],
    [{ sql_safe_updates: '1' }, /sql_safe_updates/],
    [{ sql_auto_is_null: '1' }, /sql_auto_is_null/],
    [{ sql_select_limit: '1000' }, /sql_select_limit is 1000/],
    [{ sql_big_selects: '0' }, /sql_big_selects/],
    [{ unique_checks: '0' }, /unique_checks/],
    [{ completion_type: 'CHAIN' }, /completion_type is CHAIN/],
    [{ tx_isolation: 'READ-UNCOMMITTED' }, /READ UNCOMMITTED/],
  ])('%j is refused on the connections of a host, and changed on ours', async (over, sentence) => {
    await expect(ask(over)).rejects.toThrow(sentence);
    await expect(ask(over)).rejects.toThrow(/^Option storage: .*give TypeormStorage the url .*\.$/);
    const { setup } = await ask(over, true);
    expect(setup).toMatch(/^SET NAMES utf8mb4, /);
    for (const name of Object.keys(over)) expect(setup).toContain(`SESSION ${name} = `);
  });

  test.each([
    [{ tx_read_only: '1' }, /read-only.*the server that takes writes/],
    [{ innodb_rollback_on_timeout: '1' }, /innodb_rollback_on_timeout/],
    [{ max_allowed_packet: '1048576' }, /max_allowed_packet is 1048576.*SET GLOBAL max_allowed_packet = 16777216/],
  ])('%j cannot be changed, and is refused on all connections', async (over, sentence) => {
    for (const isOurs of [false, true]) await expect(ask(over, isOurs)).rejects.toThrow(sentence);
  });

  test('a stricter isolation, other modes and a larger packet are accepted', async () => {
    const modes = `${GOOD.sql_mode},ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH,ONLY_FULL_GROUP_BY,PIPES_AS_CONCAT`;
    const over = { tx_isolation: 'SERIALIZABLE', sql_mode: modes, max_allowed_packet: '67108864' };
    expect(await ask(over)).toMatchObject({ setup: '' });
  });
});
