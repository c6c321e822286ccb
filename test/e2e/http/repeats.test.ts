import { expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { EventLog } from '../../../src/events/event-log.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { heardEvents } from '../../support/events/logged-events.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { startManage } from '../../support/management/manage-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

unmountAfterEach();

/** Everything that a change records for people: its rows, its events and its entries in the audit log. */
const TABLES = ['account', 'api_key', 'signature', 'ledger', 'opt_out', 'pause', 'rested_route', 'endpoint']
  .concat('endpoint_replay', 'endpoint_retry', 'session', 'user_session', 'user_link', 'event', 'audit')
  .map((name) => `messaging_${name}`);

/** Fields that differ between two reads although nobody has changed anything. */
const MOVES_BY_ITSELF = new Set(['used_at', 'lease_until', 'owner', 'epoch']);

async function startFixture() {
  const world = await startManage('express', { msgapp: MSGAPP, webhooks: { pepper: WEBHOOK_PEPPER } });
  const client = await clientOf(world);
  const { accountId } = client;
  const admin = world.as({ subject: 'awa', role: 'admin', accountId });
  await world.app.get(EventLog, { strict: false }).switchOn(accountId, world.clock.now());
  const heard = heardEvents(world.app.get(MessagingEvents, { strict: false }), accountId);
  const { database } = world.storage;
  const look = () => ({
    heard: heard.length,
    ...Object.fromEntries(
      TABLES.map((table) => [
        table,
        database
          .prepare<[], Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY 1, 2`)
          .all()
          .map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !MOVES_BY_ITSELF.has(name)))),
      ]),
    ),
  });
  const endpoint = async () => {
    const made = await admin.done<{ id: string }>('webhooks', { url: 'https://93.184.216.34/hook', types: TYPES });
    return `webhooks/${made.id}`;
  };
  return { ...world, client, accountId, admin, look, endpoint };
}

const TYPES = ['key.created', 'key.revoked'];

type Fixture = Awaited<ReturnType<typeof startFixture>>;

/** Makes what the change needs, and returns the change. */
type Preparation = (world: Fixture) => Promise<() => Promise<unknown>>;

/** Every change whose repetition must record nothing. */
const CHANGES: Readonly<Record<string, Preparation>> = {
  'a signature is verified': async ({ admin, operator, accountId }) => {
    await admin.done('signatures', { name: 'SHOP' });
    return () => operator.done(`manage/accounts/${accountId}/signatures/SHOP/verify`);
  },
  'a signature is rejected for a reason': async ({ admin, operator, accountId }) => {
    await admin.done('signatures', { name: 'SHOP' });
    return () => operator.done(`manage/accounts/${accountId}/signatures/SHOP/reject`, { reason: 'a brand' });
  },
  'a signature is rejected without a reason': async ({ admin, operator, accountId }) => {
    await admin.done('signatures', { name: 'SHOP' });
    return () => operator.done(`manage/accounts/${accountId}/signatures/SHOP/reject`);
  },
  'a signature is registered': async ({ admin }) => {
    return () => admin.done('signatures', { name: 'SHOP' });
  },
  'a signature is removed': async ({ admin }) => {
    await admin.done('signatures', { name: 'SHOP' });
    return () => admin.call('signatures/SHOP', { method: 'DELETE' });
  },
  'an account is renamed': async ({ operator, accountId }) => {
    return () => operator.call(`manage/accounts/${accountId}`, { method: 'PATCH', body: { name: 'Renamed' } });
  },
  'an account gets a threshold': async ({ operator, accountId }) => {
    return () => operator.call(`manage/accounts/${accountId}`, { method: 'PATCH', body: { low_balance: 3 } });
  },
  'an account is suspended': async ({ operator, accountId }) => {
    return () => operator.done(`manage/accounts/${accountId}/suspend`);
  },
  'an account is resumed': async ({ operator, accountId }) => {
    await operator.done(`manage/accounts/${accountId}/suspend`);
    return () => operator.done(`manage/accounts/${accountId}/resume`);
  },
  'an account is closed': async ({ operator, accountId }) => {
    return () => operator.done(`manage/accounts/${accountId}/close`);
  },
  'units are added under a reference': async ({ app, accountId }) => {
    const ledger = app.get(LedgerService, { strict: false });
    return () => ledger.topUp(accountId, 5, { reference: 'invoice-1' });
  },
  'units are adjusted under a reference': async ({ app, accountId }) => {
    const ledger = app.get(LedgerService, { strict: false });
    return () => ledger.adjust(accountId, -1, { reference: 'correction-1' });
  },
  'a key is revoked': async ({ admin }) => {
    const { id } = await admin.done<{ id: string }>('keys', { name: 'shop' });
    return () => admin.call(`keys/${id}`, { method: 'DELETE' });
  },
  'numbers opt out': async ({ admin }) => {
    return () => admin.done('optouts', { numbers: ['22670000000', '22670000001'], signature: 'INFOS' });
  },
  'a number opts out of all accounts': async ({ operator }) => {
    return () => operator.done('manage/optouts', { numbers: ['22670000000'], signature: 'INFOS' });
  },
  'a number opts in': async ({ app, accountId }) => {
    const optOuts = app.get(OptOutService, { strict: false });
    await optOuts.add({ accountId, signature: 'INFOS' }, ['22670000000']);
    return () => optOuts.remove({ accountId, signature: 'INFOS' }, ['22670000000']);
  },
  'a webhook gets another address': async ({ admin, endpoint }) => {
    const path = await endpoint();
    return () => admin.call(path, { method: 'PATCH', body: { url: 'https://93.184.216.34/hook?v=2' } });
  },
  'a webhook gets another description': async ({ admin, endpoint }) => {
    const path = await endpoint();
    return () => admin.call(path, { method: 'PATCH', body: { description: 'the shop' } });
  },
  'a webhook is disabled': async ({ admin, endpoint }) => {
    const path = await endpoint();
    return () => admin.done(`${path}/disable`);
  },
  'a webhook is enabled': async ({ admin, endpoint }) => {
    const path = await endpoint();
    await admin.done(`${path}/disable`);
    return () => admin.done(`${path}/enable`);
  },
  'a webhook is removed': async ({ admin, endpoint }) => {
    const path = await endpoint();
    return () => admin.call(path, { method: 'DELETE' });
  },
  'a number is unlinked': async ({ admin }) => {
    const { sessionID } = await admin.done<{ sessionID: string }>('msgapp/web/connect');
    return () => admin.call(`msgapp/web/${sessionID}`, { method: 'DELETE' });
  },
  'an operator unlinks a number': async ({ admin, operator }) => {
    const { sessionID } = await admin.done<{ sessionID: string }>('msgapp/web/connect');
    return () => operator.call(`manage/sessions/${sessionID}`, { method: 'DELETE' });
  },
  'the sessions of a user are ended': async ({ app, accountId }) => {
    const management = app.get(ManagementService, { strict: false });
    await management.link({ account: accountId, subject: 'awa', role: 'admin' });
    return () => management.endSessions({ subject: 'awa' });
  },
  'a queue is paused': async ({ operator, accountId }) => {
    return () => operator.done('manage/queue/pause', { account: accountId });
  },
  'a queue is resumed': async ({ operator, accountId }) => {
    await operator.done('manage/queue/pause', { account: accountId });
    return () => operator.done('manage/queue/resume', { account: accountId });
  },
  'a route rests': async ({ operator }) => {
    return () => operator.done('manage/carriers/sandbox/rest');
  },
  'a route resumes': async ({ operator }) => {
    await operator.done('manage/carriers/sandbox/rest');
    return () => operator.done('manage/carriers/sandbox/resume');
  },
};

/** Requests that record nothing even the first time. */
const NO_CHANGES: Readonly<Record<string, Preparation>> = {
  'an account is changed in nothing': async ({ operator, accountId }) => {
    return () => operator.call(`manage/accounts/${accountId}`, { method: 'PATCH', body: {} });
  },
  'a webhook is changed in nothing': async ({ admin, endpoint }) => {
    const path = await endpoint();
    return () => admin.call(path, { method: 'PATCH', body: {} });
  },
  'a webhook gets what it has': async ({ admin, endpoint }) => {
    const path = await endpoint();
    const body = { url: 'https://93.184.216.34/hook', types: TYPES, ordering: 'none', description: '' };
    return () => admin.call(path, { method: 'PATCH', body });
  },
  'events of an empty window are called again': async ({ admin, endpoint }) => {
    const path = await endpoint();
    return () => admin.done(`${path}/replay`, { since: '2026-01-01', until: '2026-01-02' });
  },
  'failed calls are repeated where none has failed': async ({ admin, endpoint }) => {
    const path = await endpoint();
    return () => admin.done(`${path}/replay`, { only_failed: true });
  },
};

test.each(Object.entries(CHANGES))('a change that is requested twice is recorded once: %s', async (_name, prepare) => {
  const world = await startFixture();
  const change = await prepare(world);
  const before = world.look();
  await change();
  const once = world.look();
  expect(once).not.toEqual(before);
  world.clock.advance(60_000);
  await change();
  expect(world.look()).toEqual(once);
});

test.each(Object.entries(NO_CHANGES))('a request that changes nothing records nothing: %s', async (_name, prepare) => {
  const world = await startFixture();
  const change = await prepare(world);
  const before = world.look();
  world.clock.advance(60_000);
  await change();
  expect(world.look()).toEqual(before);
});

describeOnOneAdapter('a decision that is requested twice', (adapter) => {
  test('has the time of the first one in its second answer', async () => {
    const world = await startManage(adapter);
    const { accountId } = await clientOf(world);
    await world.as({ subject: 'awa', role: 'admin', accountId }).done('signatures', { name: 'SHOP' });
    const verify = () => world.operator.done(`manage/accounts/${accountId}/signatures/SHOP/verify`);
    const first = await verify();
    world.clock.advance(60_000);
    expect(await verify()).toEqual(first);
  });
});
