import { beforeAll, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { type Author } from '../../../src/accounts/audit/audit-entry.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { ManagedSessionStore } from '../../../src/management/operator/managed-session-store.js';
import { ManagedSessions } from '../../../src/management/operator/managed-sessions.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000000';
const BY: Author = { kind: 'operator', id: 'odile', address: '192.0.2.1' };
const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

async function open() {
  const world = await MsgappFixture.open();
  const process = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
  const modules = { get: () => process.sessions } as unknown as ModuleRef;
  const managed = new ManagedSessions(world.storage.store(ManagedSessionStore), modules);
  const audited = async () => {
    const { items } = await world.storage.store(AuditLog).list({ limit: 10 });
    return items.filter(({ action }) => action.startsWith('number.'));
  };
  return { world, process, managed, audited, store: world.storage.store(SessionStore) };
}

test('an unlinking is audited once, together with its step, and only if there was something to unlink', async () => {
  const { world, process, managed, audited, store } = await open();
  const id = await linked(process, NUMBER);
  const move = store.move.bind(store);
  store.move = async () => {
    throw new StorageUnavailableError('It is away.');
  };
  const unlinking = managed.unlink(id, { by: BY });
  await settled();
  const connected = { action: 'number.connect_requested', target: id, by: { kind: 'host' } };
  expect(await audited()).toMatchObject([connected]);
  store.move = move;
  await world.pass(5000);
  await unlinking;
  await managed.unlink(id, { by: BY });
  const fields = { before: { status: 'connected', number: '226******00' }, after: { status: 'logged_out' } };
  expect(await audited()).toMatchObject([
    { action: 'number.unlinked', target: id, accountId: ACCOUNT, by: BY, ...fields },
    connected,
  ]);
});

test('unlinking a number that another process holds is audited; an unlinking by the phone is not', async () => {
  const { world, process, managed, audited } = await open();
  const other = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
  const [theirs, ours] = [await linked(other, NUMBER), await linked(process, '22670000001')];
  await managed.unlink(theirs, { by: BY });
  const end = { next: 'give-up', status: 'logged_out', reason: 'unlinked' } as const;
  await process.transport.last(ours).say({ kind: 'ended', end });
  await managed.unlink(ours, { by: BY });
  const unlinked = (await audited()).filter(({ action }) => action === 'number.unlinked');
  expect(unlinked.map(({ target }) => target)).toEqual([theirs]);
});
