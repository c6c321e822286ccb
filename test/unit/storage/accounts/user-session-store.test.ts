import { expect, jest, test } from '@jest/globals';
import { UserSessionStore } from '../../../../src/management/user-sessions/user-session-store.js';
import { START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { SqliteMemory } from '../../../support/databases/sqlite-memory.js';

const opened = closeAfterEach();

test('only a usable link opens a write transaction', async () => {
  const storage = opened(await SqliteMemory.open());
  const store = new UserSessionStore(storage.db);
  const by = { kind: 'operator', id: 'odile' } as const;
  const link = { id: 'link', subject: 'odile', accountId: undefined, role: 'operator', createdAt: START } as const;
  await store.addLink({ ...link, hash: 'known', expiresAt: START + 10 }, by, {});
  const write = jest.spyOn(storage.db, 'write');
  const session = { id: 's', hash: 'h', expiresAt: START + 20, endsAt: START + 30, address: undefined };
  const writes = async (hash: string, at: number) => {
    write.mockClear();
    const started = await store.startByLink(hash, { ...session, at });
    return [started?.id, write.mock.calls.length];
  };
  expect(await writes('guess', START)).toEqual([undefined, 0]);
  expect(await writes('known', START + 10)).toEqual([undefined, 0]);
  expect(await writes('known', START + 9)).toEqual(['s', 1]);
  expect(await writes('known', START + 9)).toEqual([undefined, 0]);
});
