import { expect, test } from '@jest/globals';
import type { ModuleRef } from '@nestjs/core';
import type { AuditEntry, AuditLog } from '../../../src/accounts/audit.js';
import type { ManagedSessionStore } from '../../../src/management/operator/managed-session-store.js';
import { ManagedSessions } from '../../../src/management/operator/managed-sessions.js';
import type { StoredSession } from '../../../src/msgapp/sessions/session-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { aSession } from '../../../src/testing/storage-contract/fixtures.js';

test('an unlinking is in the audit log though the process ends within it, and one of what is over is not', async () => {
  let stored: Pick<StoredSession, 'id' | 'status'> = { ...aSession(1), status: 'connected' };
  let died = true;
  const entries: AuditEntry[] = [];
  const logout = async () => {
    stored = { ...stored, status: 'logged_out' };
    if (died) throw new Error('The process ends.');
  };
  const sessions = new ManagedSessions(
    { find: async () => stored } as unknown as ManagedSessionStore,
    { get: () => ({ logout }) } as unknown as ModuleRef,
    { record: async (entry: AuditEntry) => void entries.push(entry) } as unknown as AuditLog,
    new FakeClock(),
  );
  await expect(sessions.unlink(stored.id)).rejects.toThrow('The process ends.');
  expect(entries).toMatchObject([{ action: 'number.unlinked', target: stored.id, before: { status: 'connected' } }]);
  died = false;
  await sessions.unlink(stored.id);
  expect(entries).toHaveLength(1);
});
