import { expect, test } from '@jest/globals';
import { HookInbox } from '../../../src/sandbox/hooks/hook-inbox.js';

const CALL = { at: 0, webhookId: '', verified: undefined };

test('all calls together keep at most 64 Mi characters, however large they are', () => {
  const inbox = new HookInbox();
  const body = 'x'.repeat(65_536);
  for (let index = 0; index < 2000; index++) inbox.receive(`name-${index % 40}`, { ...CALL, body });
  const kept = inbox.names.flatMap((name) => inbox.calls(name));
  expect(kept).toHaveLength(1024);
  expect(kept.some(({ number }) => number === 2000)).toBe(true);
});

test('notifies a listener of each call until the listener is removed', () => {
  const inbox = new HookInbox();
  let notified = 0;
  const stop = inbox.listen(() => notified++);
  inbox.receive('a', { ...CALL, body: '' });
  stop();
  inbox.receive('a', { ...CALL, body: '' });
  expect([notified, inbox.calls('a').map(({ number }) => number)]).toEqual([1, [2, 1]]);
});
