import { DataSource } from 'typeorm';
import { doctorRules } from '../../../support/accounts/doctor-suite.js';
import { closeAfterEach } from '../../../support/common/opened.js';

const opened = closeAfterEach();

doctorRules(async () => {
  const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  opened({ close: () => dataSource.destroy() });
  return dataSource;
});
