import { beforeAll, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { EventLog } from '../../../src/events/event-log.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { heardEvents, loggedEvents, sorted } from '../../support/events/logged-events.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000000';
const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

async function open() {
  const world = await MsgappFixture.open();
  const log = world.storage.store(EventLog);
  await log.switchOn(ACCOUNT, world.clock.now());
  const transport = new ScriptedTransport();
  const process = opened(await new MsgappProcess(world, transport).start());
  return { world, log, transport, process, heard: heardEvents(process.events, ACCOUNT) };
}

test('the steps of a session, its restriction and a notice are in the log as the process gets them', async () => {
  const { world, log, transport, process, heard } = await open();
  const id = await linked(process, NUMBER);
  await transport.last().say({ kind: 'restricted', code: '463', forMs: 60_000 });
  await transport.last().say({ kind: 'notice', reason: 'passkey_required' });
  await transport.last().say({ kind: 'ended', end: { next: 'retry', reason: 'cut' } });
  await world.pass(2000);
  await transport.last().say({ kind: 'open', number: NUMBER });
  await process.sessions.logout(ACCOUNT, id);
  await settled();
  const published = heard.map(({ type, data }) => [type, 'reason' in data ? data.reason : '']);
  expect(published).toEqual([
    ['session.connected', 'linked'],
    ['session.restricted', '463'],
    ['session.notice', 'passkey_required'],
    ...published.slice(3, -1),
    ['session.logged_out', 'logout'],
  ]);
  const logged = await loggedEvents(log, ACCOUNT);
  expect(sorted(logged)).toEqual(sorted(heard));
  expect(logged.filter(({ data }) => 'number' in data && data.number === NUMBER)).toHaveLength(logged.length);
});

test('a code that nobody scans ends as an event, which does not contain the code', async () => {
  const { world, log, transport, process } = await open();
  await process.sessions.connect(ACCOUNT);
  await settled();
  await transport.last().say({ kind: 'qr', qr: 'secret-code', expiresAt: world.clock.now() + 20_000 });
  await world.pass(200_000, 10_000);
  const logged = await loggedEvents(log, ACCOUNT);
  expect(logged).toMatchObject([{ type: 'session.expired', data: { number: null, reason: 'not_scanned' } }]);
  expect(JSON.stringify(logged)).not.toContain('secret-code');
});

test('a notice that cannot be stored still reaches the process, and disturbs nobody', async () => {
  const { log, transport, process, heard } = await open();
  await linked(process, NUMBER);
  log.append = async () => {
    throw new StorageUnavailableError('away');
  };
  await transport.last().say({ kind: 'notice', reason: 'passkey_required' });
  await settled();
  expect(heard.at(-1)?.type).toBe('session.notice');
  expect(transport.last().isUp).toBe(true);
});
