import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MessagingEvents, type SmsFromPhone } from '../../../src/events/messaging-events.js';
import { plainNode } from '../../support/plain-node.js';
import { settled } from '../../support/settled.js';

const TEXT: SmsFromPhone = { route: 'link', from: '22670000001', to: '4400', text: 'my secret' };

let events: MessagingEvents;
let logged: string[];

beforeEach(() => {
  events = new MessagingEvents();
  logged = [];
  jest.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => void logged.push(String(line)));
});

describe('a listener', () => {
  test('hears its own events only, until it wants no more', () => {
    const heard: unknown[] = [];
    const stop = events.on('sms.inbound', (text) => heard.push(text));
    events.tell({ type: 'otp.verified', accountId: 'a', at: 0, data: { service: 's', number: '22670000001' } });
    events.emit('sms.inbound', TEXT);
    stop();
    events.emit('sms.inbound', TEXT);
    expect(heard).toEqual([TEXT]);
  });

  test('hears events of several names, each with its account, its time and its data', () => {
    const heard: unknown[] = [];
    const data = { service: 's', number: '22670000001' };
    const stop = events.on(['otp.verified', 'otp.locked'], (event) => heard.push(event));
    events.tell({ type: 'otp.verified', accountId: 'a', at: 0, data });
    stop();
    events.tell({ type: 'otp.locked', accountId: 'a', at: 0, data: { ...data, retry_after: 1 } });
    expect(heard).toEqual([{ type: 'otp.verified', timestamp: '1970-01-01T00:00:00.000Z', account: 'a', data }]);
  });

  const mistake = () => new TypeError(`cannot read ${TEXT.text}`);
  test.each<{ how: string; listener: () => unknown; told: string }>([
    {
      ...{ how: 'throws', told: 'TypeError' },
      listener: () => {
        throw mistake();
      },
    },
    { how: 'rejects', told: 'TypeError', listener: () => Promise.reject(mistake()) },
    { how: 'rejects with what is no error', told: 'something', listener: () => Promise.reject(TEXT.text) },
    {
      ...{ how: "answers another library's promise, which fails", told: 'TypeError' },
      // biome-ignore lint/suspicious/noThenProperty: that is what is tested.
      listener: () => ({ then: (_: unknown, fail: (error: unknown) => void) => fail(mistake()) }),
    },
  ])('that $how disturbs nobody else, and the log tells its name and nothing of the payload', async (row) => {
    const heard: unknown[] = [];
    events.on('sms.inbound', row.listener);
    events.on('sms.inbound', (text) => heard.push(text));
    events.emit('sms.inbound', TEXT);
    expect(heard).toEqual([TEXT]);
    await settled();
    expect(logged).toEqual([`A listener of sms.inbound threw ${row.told}.`]);
  });

  test('whose promise is kept is no news', async () => {
    events.on('sms.inbound', async () => undefined);
    events.emit('sms.inbound', TEXT);
    await settled();
    expect(logged).toEqual([]);
  });

  test('that rejects does not end the process', async () => {
    expect(await plainNode(new URL('../../support/rejecting-listener.ts', import.meta.url))).toBe('alive');
  });
});
