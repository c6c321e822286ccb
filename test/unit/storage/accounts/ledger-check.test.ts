import { DataSource } from 'typeorm';
import { ledgerCheckRules } from '../../../support/accounts/ledger-check-suite.js';
import { closeAfterEach } from '../../../support/common/opened.js';

const opened = closeAfterEach();

ledgerCheckRules(async () => {
  const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  opened({ close: () => dataSource.destroy() });
  return dataSource;
});
