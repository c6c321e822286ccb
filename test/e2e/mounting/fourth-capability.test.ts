import { describe } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';
import { fourthCapability } from '../../support/postcards/postcard-suite.js';

const opened = closeAfterEach();
unmountAfterEach();

describe('a fourth capability on SQLite', () => {
  fourthCapability('express', async () => `sqlite:${opened(new SqliteFile()).path}`);
});
