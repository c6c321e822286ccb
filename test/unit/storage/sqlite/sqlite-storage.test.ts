import { afterEach, beforeEach, describe, test } from '@jest/globals';
import { describeStorage } from '../../../contract/storage/storage-contract.js';
import { openSqlite } from '../../../support/databases/sql-harness.js';

describeStorage('SQLite', openSqlite, { describe, test, beforeEach, afterEach });
