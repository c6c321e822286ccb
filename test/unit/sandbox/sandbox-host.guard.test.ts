import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { SandboxHostGuard } from '../../../src/sandbox/sandbox-host.guard.js';

const guard = new SandboxHostGuard({ names: ['sms.example.test'] });
const ask = (localAddress: string | undefined, headers: IncomingHttpHeaders) =>
  guard.canActivate(new ExecutionContextHost([{ headers, socket: { localAddress } }]));

test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])('on %s only local names are answered', (address) => {
  for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000', 'SMS.example.test']) {
    expect(ask(address, { host })).toBe(true);
  }
  expect(ask(address, { ':authority': 'localhost:3000' })).toBe(true);
  for (const headers of [{ host: 'rebound.example' }, { ':authority': 'rebound.example' }, { host: '' }, {}]) {
    expect(() => ask(address, headers)).toThrow('error.sandbox_host_refused');
  }
});

test.each(['192.0.2.1', '2001:db8::1', '::ffff:192.0.2.1', undefined])('on %s any name is answered', (address) => {
  for (const host of ['localhost', 'sandbox.example.test', '192.0.2.1:3000']) expect(ask(address, { host })).toBe(true);
});
