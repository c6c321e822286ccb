import { describe } from '@jest/globals';
import { operatorSuite } from '../../../support/accounts/operator-suite.js';
import { openSqlite } from '../../../support/databases/sql-harness.js';

describe('the stores of operators on SQLite', () => operatorSuite(openSqlite));
