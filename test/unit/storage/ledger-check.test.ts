import { DataSource } from 'typeorm';
import { ledgerCheckRules } from '../../support/ledger-check-suite.js';
import { closeAfterEach } from '../../support/opened.js';

const opened = closeAfterEach();

ledgerCheckRules(async () => {
  const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  opened({ close: () => dataSource.destroy() });
  return dataSource;
});
