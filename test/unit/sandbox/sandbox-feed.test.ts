import { afterEach, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { PhoneMessage } from '../../../src/sandbox/phones/phone-store.js';
import { SandboxFeed } from '../../../src/sandbox/sandbox-feed.js';

afterEach(() => {
  jest.restoreAllMocks();
});

function message(messageId: string): PhoneMessage {
  const text = 'code 4821';
  return { messageId, channel: 'sms', from: 'INFOS', to: '22670000000', text, media: undefined, receivedAt: 0 };
}

test('publishes each message once and in order to the present listeners', () => {
  const feed = new SandboxFeed();
  const first: string[] = [];
  const second: string[] = [];
  feed.publish([message('a')]);
  const stop = feed.listen(({ messageId }) => first.push(messageId));
  feed.publish([message('b'), message('c')]);
  feed.listen(({ messageId }) => second.push(messageId));
  stop();
  stop();
  feed.publish([message('d')]);
  expect(first).toEqual(['b', 'c']);
  expect(second).toEqual(['d']);
});

test('treats a function that is added twice as two listeners', () => {
  const feed = new SandboxFeed();
  const heard: string[] = [];
  const listener = ({ messageId }: PhoneMessage) => heard.push(messageId);
  const stop = feed.listen(listener);
  feed.listen(listener);
  stop();
  feed.publish([message('a')]);
  expect(heard).toEqual(['a']);
});

test('continues if a listener throws, and logs neither text nor number', () => {
  const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
  const feed = new SandboxFeed();
  const heard: string[] = [];
  feed.listen(({ text, to }) => {
    throw new RangeError(`cannot show ${text} to ${to}`);
  });
  feed.listen(({ messageId }) => heard.push(messageId));
  feed.publish([message('a'), message('b')]);
  expect(heard).toEqual(['a', 'b']);
  expect(log).toHaveBeenCalledTimes(1);
  const logged = JSON.stringify(log.mock.calls);
  expect(logged).toContain('RangeError');
  expect(logged).not.toMatch(/4821|22670000000/);
});
