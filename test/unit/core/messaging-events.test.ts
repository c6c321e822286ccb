import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { MessagingEvent } from '../../../src/events/event-types.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { aMove } from '../../contract/storage/fixtures.js';
import { settled } from '../../support/common/settled.js';
import { plainNode } from '../../support/jest/plain-node.js';

const AT = '2026-11-22T10:00:00.000Z';
const TEXT: MessagingEvent<'sms.received'> = {
  type: 'sms.received',
  timestamp: AT,
  account: '*',
  data: { id: 'text', from: '22670000001', to: '4400', text: 'my secret', truncated: false, received_at: AT },
};

let events: MessagingEvents;
let logged: string[];

beforeEach(() => {
  events = new MessagingEvents();
  logged = [];
  jest.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => void logged.push(String(line)));
});

describe('a listener', () => {
  test('receives only events of its name, until it is removed', () => {
    const heard: unknown[] = [];
    const stop = events.on('sms.received', (text) => heard.push(text));
    events.publish({ type: 'otp.verified', accountId: 'a', at: 0, data: { service: 's', number: '22670000001' } });
    events.emit('sms.received', TEXT);
    stop();
    events.emit('sms.received', TEXT);
    expect(heard).toEqual([TEXT]);
  });

  test('receives events of several names, each with its account, its time and its data', () => {
    const heard: unknown[] = [];
    const data = { service: 's', number: '22670000001' };
    const stop = events.on(['otp.verified', 'otp.locked'], (event) => heard.push(event));
    events.publish({ type: 'otp.verified', accountId: 'a', at: 0, data });
    stop();
    events.publish({ type: 'otp.locked', accountId: 'a', at: 0, data: { ...data, retry_after: 1 } });
    expect(heard).toEqual([{ type: 'otp.verified', timestamp: '1970-01-01T00:00:00.000Z', account: 'a', data }]);
  });

  test('of completed sends only is called for them when deliveries change their state, and no longer once it is removed', () => {
    const heard: string[] = [];
    const off = events.on('send.completed', ({ type, data }) => heard.push(`${type} ${data.recipients_count}`));
    const completed = { recipients: 2, statuses: { sent: 1, failed: 1 }, units: 2, refundedUnits: 1 };
    const moved = [aMove(1), aMove(2, { status: 'failed', completed })];
    events.publishTransitions(moved);
    expect(heard).toEqual(['send.completed 2']);
    off();
    events.publishTransitions(moved);
    expect(heard).toHaveLength(1);
  });

  const mistake = () => new TypeError(`cannot read ${TEXT.data.text}`);
  test.each<{ how: string; listener: () => unknown; logged: string }>([
    {
      how: 'throws',
      logged: 'TypeError',
      listener: () => {
        throw mistake();
      },
    },
    { how: 'rejects', logged: 'TypeError', listener: () => Promise.reject(mistake()) },
    {
      how: 'rejects with a value that is not an error',
      logged: 'something',
      listener: () => Promise.reject(TEXT.data.text),
    },
    {
      how: "answers another library's promise, which fails",
      logged: 'TypeError',
      // biome-ignore lint/suspicious/noThenProperty: that is what is tested.
      listener: () => ({ then: (_: unknown, fail: (error: unknown) => void) => fail(mistake()) }),
    },
  ])('that $how disturbs nobody else, and the log has its name and nothing of the payload', async (row) => {
    const heard: unknown[] = [];
    events.on('sms.received', row.listener);
    events.on('sms.received', (text) => heard.push(text));
    events.emit('sms.received', TEXT);
    expect(heard).toEqual([TEXT]);
    await settled();
    expect(logged).toEqual([`A listener of sms.received threw ${row.logged}.`]);
  });

  test('whose promise resolves is not logged', async () => {
    events.on('sms.received', async () => undefined);
    events.emit('sms.received', TEXT);
    await settled();
    expect(logged).toEqual([]);
  });

  test('that rejects does not end the process', async () => {
    expect(await plainNode(new URL('../../support/events/rejecting-listener.ts', import.meta.url))).toBe('alive');
  });
});
