import type { Dialect } from '../storage/dialect.js';
import { ledgerCheckTables } from './operator/ledger-checks/ledger-check.tables.js';
import { usageTables } from './usage/usage.tables.js';
import { userSessionTables } from './user-sessions/user-sessions.tables.js';

/** The tables of the management API: users with their sessions, the usage of accounts, and the checks of the books. */
export function managementTables(dialect: Dialect): string[] {
  return [...userSessionTables(dialect), ...usageTables(dialect), ...ledgerCheckTables(dialect)];
}
