import { describe } from '@jest/globals';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { LOCKING_SERVERS } from '../support/held-row.js';
import { ledgerCheckRules } from '../support/ledger-check-suite.js';
import { closeAfterEach } from '../support/opened.js';
import { hasServer } from '../support/servers.js';

const opened = closeAfterEach();

for (const [name, { type, port, create }] of Object.entries(LOCKING_SERVERS)) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;
  suite(`the check of the books on ${name}`, () => {
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
