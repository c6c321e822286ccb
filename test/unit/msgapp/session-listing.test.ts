import { expect, test } from '@jest/globals';
import { isFinal } from '../../../src/events/session-status.js';
import type { SessionsView } from '../../../src/msgapp/msgapp.api.js';
import type { StoredSession } from '../../../src/msgapp/sessions/session-records.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { ACCOUNT } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const NUMBER = '22670000500';
const TO = '22675000000';
const opened = closeAfterEach();

/** A number that was linked first, and then this many sessions of which ten still wait. */
async function openCrowded(connects: number) {
  const world = await MsgappFixture.open();
  const options = { connects: { waiting: 11, perHour: 1000 } };
  const process = opened(await new MsgappProcess(world, new ScriptedTransport(), options).start());
  const made = [await linked(process, NUMBER)];
  for (let index = 0; index < connects; index++) {
    await world.pass(10, 10);
    made.push((await process.sessions.connect(ACCOUNT)).sessionID);
    const over = index >= 10 ? process.sessions.find(made.at(-11) ?? '') : undefined;
    await over?.end({ kind: 'end', status: 'expired', reason: 'not_scanned' });
  }
  await world.pass(100);
  return { world, process, made };
}

function idsOf({ sessions }: SessionsView): readonly string[] {
  return sessions.map(({ sessionID }) => sessionID);
}

test('the status shows live sessions and the newest fifty that ended, however many there were', async () => {
  const { process, made } = await openCrowded(75);
  const [first = '', ...rest] = made;
  const view = await process.sessions.status(ACCOUNT);
  expect(idsOf(view)).toEqual([...rest.slice(-60).reverse(), first]);
  expect(view).toMatchObject({ sessionID: first, status: 'connected', number: NUMBER });
  await process.sessions.logout(ACCOUNT, first);
  expect(idsOf(await process.sessions.status(ACCOUNT))).toEqual(rest.slice(-60).reverse());
});

test('an older session that ended is shown if it is requested, in its place', async () => {
  const { process, made } = await openCrowded(75);
  const [first = '', , third = '', ...rest] = made;
  const view = await process.sessions.status(ACCOUNT, third);
  expect(view).toMatchObject({ sessionID: third, status: 'expired', number: null });
  expect(idsOf(view)).toEqual([...rest.slice(-60).reverse(), third, first]);
  for (const [account, id] of [
    ['acc2', third],
    [ACCOUNT, 'nothing'],
    [ACCOUNT, "' OR 1=1 \u0000"],
  ] as const) {
    await expect(process.sessions.status(account, id)).rejects.toMatchObject({ code: 'error.session_not_found' });
  }
});

test('no ended session is read to find a sender', async () => {
  const { world, process } = await openCrowded(20);
  const read: StoredSession[] = [];
  const list = world.storage.store(SessionStore).list.bind(world.storage.store(SessionStore));
  world.storage.store(SessionStore).list = async (...args) => {
    const found = await list(...args);
    read.push(...found);
    return found;
  };
  await world.pass(10_000);
  await process.service.sendText(ACCOUNT, { to: TO, body: 'Bonjour' });
  expect(read.length).toBeGreaterThan(0);
  expect(read.filter(({ status }) => isFinal(status))).toEqual([]);
});
