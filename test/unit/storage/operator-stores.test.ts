import { describe } from '@jest/globals';
import { operatorSuite } from '../../support/operator-suite.js';
import { openSqlite } from '../../support/sql-harness.js';

describe('the stores of operators on SQLite', () => operatorSuite(openSqlite));
