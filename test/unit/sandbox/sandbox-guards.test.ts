import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { isLocal, SandboxHostGuard } from '../../../src/sandbox/sandbox-guards.js';

const guard = new SandboxHostGuard({ names: ['sms.example.test'] });
const ask = (localAddress: string | undefined, headers: IncomingHttpHeaders) =>
  guard.canActivate(new ExecutionContextHost([{ headers, socket: { localAddress } }]));

test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])('on %s only local names are served', (address) => {
  for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000', 'SMS.example.test']) {
    expect(ask(address, { host })).toBe(true);
  }
  expect(ask(address, { ':authority': 'localhost:3000' })).toBe(true);
  for (const headers of [{ host: 'rebound.example' }, { ':authority': 'rebound.example' }, { host: '' }, {}]) {
    expect(() => ask(address, headers)).toThrow('error.sandbox_host_refused');
  }
});

test.each(['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1', undefined])('on %s any name is served', (address) => {
  for (const host of ['localhost', 'sandbox.example.test', '192.0.2.1:3000']) expect(ask(address, { host })).toBe(true);
});

const local = (localAddress: string, remoteAddress: string, headers: IncomingHttpHeaders) => {
  const socket = Object.assign(new Socket(), {});
  Object.defineProperties(socket, { localAddress: { value: localAddress }, remoteAddress: { value: remoteAddress } });
  return isLocal({ headers, socket });
};

test('a request is local if both addresses and the name are local and no proxy header says otherwise', () => {
  expect(local('127.0.0.1', '127.0.0.1', { host: 'localhost:3000' })).toBe(true);
  expect(local('::1', '::ffff:127.0.0.1', { host: '[::1]' })).toBe(true);
  expect(local('127.0.0.1', '192.0.2.1', { host: 'localhost' })).toBe(false);
  expect(local('192.0.2.1', '127.0.0.1', { host: 'localhost' })).toBe(false);
  expect(local('127.0.0.1', '127.0.0.1', { host: 'sms.example.test' })).toBe(false);
  expect(local('127.0.0.1', '127.0.0.1', {})).toBe(false);
  expect(local('127.0.0.1', '127.0.0.1', { host: 'localhost', 'x-real-ip': '192.0.2.1' })).toBe(false);
});
