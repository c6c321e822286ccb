import { expect, test } from '@jest/globals';
import type { Database } from '../../../src/storage/engine/database.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';
import type { CallProgress } from '../../../src/webhooks/calls/call-records.js';
import { CallStore } from '../../../src/webhooks/calls/call-store.js';

const NOTHING: CallProgress = {
  lease: { endpointId: 'e1', epoch: 1 },
  cursor: 3,
  failingSince: undefined,
  restsUntil: undefined,
  done: [],
  failed: [],
  records: [],
  replays: [],
  disabled: undefined,
};
const FAILED: CallProgress = { ...NOTHING, failed: [{ sequence: 3, tries: 1, dueAt: 5, batch: undefined }] };

test.each([
  ['what was called', 'writeLazily', [NOTHING]],
  ['a call that failed', 'write', [NOTHING, FAILED]],
] as const)('%s is stored by %s', async (_, expected, progress) => {
  const used: string[] = [];
  const uses = (name: string) => async () => {
    used.push(name);
    return new Set();
  };
  const db = {
    dialect: new SqliteDialect(),
    write: uses('write'),
    writeLazily: uses('writeLazily'),
    store: () => ({}),
  };
  const store = new CallStore(db as unknown as Database);
  await store.commit('a', progress);
  expect(used).toEqual([expected]);
});
