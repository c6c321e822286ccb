import { describe } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { emitterRules } from '../../support/events/emitters-suite.js';

const opened = closeAfterEach();

describe('the events that an account gets (SQLite)', () => {
  emitterRules(async () => opened(await SqliteMemory.open()).dataSource);
});
