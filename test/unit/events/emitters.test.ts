import { describe } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { emitterRules } from '../../support/events/emitters-suite.js';

const opened = closeAfterEach();

describe('what accounts tell (SQLite)', () => {
  emitterRules(async () => opened(await SqliteMemory.open()).dataSource);
});
