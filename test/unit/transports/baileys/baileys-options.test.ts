import { Agent } from 'node:https';
import { describe, expect, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import { BaileysMsgappTransport } from '../../../../src/transports/baileys/baileys-msgapp-transport.js';
import { resolveBaileysOptions } from '../../../../src/transports/baileys/baileys-options.js';
import { LOOPBACK_CERTIFICATE } from '../../../support/transports/whatsapp/loopback-tls.js';

describe('the URL to connect to', () => {
  test.each([
    'wss://web.whatsapp.com/ws/chat',
    'wss://relay.example',
    'ws://127.0.0.1:3000/ws/chat',
    'ws://127.8.9.1:1',
    'ws://localhost:3000',
    'ws://[::1]:3000',
  ])('%s is accepted', (waWebSocketUrl) => {
    expect(resolveBaileysOptions({ waWebSocketUrl })).toMatchObject({ waWebSocketUrl });
  });

  test.each([
    'ws://web.whatsapp.com/ws/chat',
    'ws://10.0.0.1',
    'ws://128.0.0.1',
    'ws://[::2]',
    'ws://localhost.example.com',
    'http://127.0.0.1',
    'https://web.whatsapp.com',
    'tcp://web.whatsapp.com:443',
    'web.whatsapp.com',
    '',
  ])('%s is refused with a sentence that names the option', (waWebSocketUrl) => {
    expect(() => BaileysMsgappTransport.forRoot({ waWebSocketUrl })).toThrow(MessagingOptionsError);
    expect(() => resolveBaileysOptions({ waWebSocketUrl })).toThrow(/waWebSocketUrl/);
  });

  test('is WhatsApp unless the host sets another', () => {
    expect(resolveBaileysOptions({}).waWebSocketUrl).toBe('wss://web.whatsapp.com/ws/chat');
  });
});

describe('certificates', () => {
  test.each(['agent', 'uploadAgent'])('are always checked: an %s that does not check them is refused', (option) => {
    const options = { [option]: new Agent({ rejectUnauthorized: false }) };
    expect(() => resolveBaileysOptions(options)).toThrow(`Option ${option} of BaileysMsgappTransport must check`);
  });

  test('of the host are trusted in addition to the usual ones', () => {
    const { agent, uploadAgent } = resolveBaileysOptions({ ca: LOOPBACK_CERTIFICATE });
    for (const each of [agent, uploadAgent]) {
      expect(each?.options.ca).toContain(LOOPBACK_CERTIFICATE);
      expect(each?.options.ca?.length).toBeGreaterThan(50);
    }
  });

  test('have no effect on a socket without TLS', () => {
    const { agent, uploadAgent } = resolveBaileysOptions({ ca: LOOPBACK_CERTIFICATE, waWebSocketUrl: 'ws://[::1]:1' });
    expect(agent).toBeUndefined();
    expect(uploadAgent).toBeDefined();
  });
});

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5'])('refuses %p as a duration', (ackTimeoutMs) => {
  expect(() => resolveBaileysOptions(Object({ ackTimeoutMs }))).toThrow(/ackTimeoutMs/);
});

test.each<[unknown, string]>([
  [
    { ackTimeout: 5 },
    'Option ackTimeout of BaileysMsgappTransport is not known; the known options are waWebSocketUrl, version,',
  ],
  [{ constructor: 5 }, 'Option constructor of BaileysMsgappTransport is not known;'],
  [null, 'The options of BaileysMsgappTransport must be an object.'],
  ['wss://relay.example', 'The options of BaileysMsgappTransport must be an object.'],
  [[], 'The options of BaileysMsgappTransport must be an object.'],
  [{ waWebSocketUrl: null }, 'Option waWebSocketUrl of BaileysMsgappTransport must be a wss:// URL'],
  [{ version: '2.3000.1' }, 'Option version of BaileysMsgappTransport must be three numbers, such as [2, 3000, 1].'],
  [{ version: [2, 3000] }, 'Option version of BaileysMsgappTransport must be three numbers'],
  [{ browser: 'Chrome' }, 'Option browser of BaileysMsgappTransport must be three texts: system, browser, version.'],
  [{ ca: 5 }, 'Option ca of BaileysMsgappTransport must be a text, PEM.'],
  [{ agent: 5 }, 'Option agent of BaileysMsgappTransport must be an Agent of node:http or node:https.'],
  [{ uploadAgent: null }, 'Option uploadAgent of BaileysMsgappTransport must be an Agent of node:http or node:https.'],
  [{ ackTimeoutMs: null }, 'Option ackTimeoutMs of BaileysMsgappTransport must be a number of milliseconds above 0'],
])('%j is refused where the host wrote it, before anything is loaded', (options, sentence) => {
  const forRoot = () => Reflect.apply(BaileysMsgappTransport.forRoot, BaileysMsgappTransport, [options]);
  expect(forRoot).toThrow(MessagingOptionsError);
  expect(forRoot).toThrow(sentence);
});

test('an option that is undefined has its default', () => {
  expect(resolveBaileysOptions(Object({ queryTimeoutMs: undefined })).queryTimeoutMs).toBe(12_000);
});

test('the lease covers the longest time that everything about a message may take', () => {
  const transport = new BaileysMsgappTransport({ uploadTimeoutMs: 500_000 });
  expect(transport.timing.leaseMs).toBeGreaterThan(500_000);
});
