import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { writeSchema } from '../../support/databases/schema-template.js';
import { ONE_ADAPTER } from '../../support/http/http-apps.js';
import { describeOtp } from '../../support/otp/otp-suite.js';

const folder = mkdtempSync(join(tmpdir(), 'messaging-otp-'));
let files = 0;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

describeOtp(ONE_ADAPTER, 'SQLite', async () => {
  const database = join(folder, `${files++}.db`);
  await writeSchema(database);
  const storage = new TypeormStorage({ database: `sqlite:${database}` });
  return { storage, database: { type: 'better-sqlite3', database } };
});
