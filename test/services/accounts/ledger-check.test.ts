import { describe } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { ledgerCheckRules } from '../../support/accounts/ledger-check-suite.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { LOCKING_SERVERS } from '../../support/databases/held-row.js';
import { hasServer } from '../../support/databases/servers.js';

const opened = closeAfterEach();

for (const [name, { type, port, create }] of Object.entries(LOCKING_SERVERS)) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;
  suite(`the check of the ledger on ${name}`, () => {
    ledgerCheckRules(async () => {
      const { url, drop } = await create();
      opened({ close: drop });
      const options: DataSourceOptions = { type, url };
      const dataSource = await new DataSource(options).initialize();
      opened({ close: () => dataSource.destroy() });
      return dataSource;
    });
  });
}
