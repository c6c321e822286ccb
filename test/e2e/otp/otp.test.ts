import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { describeOtp } from '../../support/otp/otp-suite.js';

const folder = mkdtempSync(join(tmpdir(), 'messaging-otp-'));
let files = 0;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

for (const adapter of ['express', 'fastify'] as const) {
  describeOtp(adapter, 'SQLite', () => {
    const database = join(folder, `${files++}.db`);
    const storage = new TypeormStorage({ database: `sqlite:${database}` });
    return { storage, database: { type: 'better-sqlite3', database } };
  });
}
