import { describe } from '@jest/globals';
import { unmountAfterEach } from '../../support/mounted.js';
import { closeAfterEach } from '../../support/opened.js';
import { fourthCapability } from '../../support/postcards/postcard-suite.js';
import { SqliteFile } from '../../support/sqlite-file.js';

const opened = closeAfterEach();
unmountAfterEach();

describe('a fourth capability on SQLite', () => {
  fourthCapability('express', async () => `sqlite:${opened(new SqliteFile()).path}`);
});
