import { describe } from '@jest/globals';
import { emitterRules } from '../../support/emitters-suite.js';
import { closeAfterEach } from '../../support/opened.js';
import { SqliteMemory } from '../../support/sqlite-memory.js';

const opened = closeAfterEach();

describe('what accounts tell (SQLite)', () => {
  emitterRules(async () => opened(await SqliteMemory.open()).dataSource);
});
