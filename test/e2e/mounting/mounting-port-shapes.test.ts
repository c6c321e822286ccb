import { describe, expect, test } from '@jest/globals';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Clock } from '../../../src/common/clock.js';
import { DatabaseClock } from '../../../src/core/database-clock.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { SandboxMsgappTransport } from '../../../src/sandbox/sandbox-msgapp-transport.js';
import { SandboxSmsTransport } from '../../../src/sandbox/sandbox-sms-transport.js';
import { SmsTransport } from '../../../src/sms/sms-transport.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { RoutedSmsTransport } from '../../../src/transports/routed/routed-sms-transport.module.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { startRefusal } from '../../support/mounting/start-refusal.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

const MSGAPP = { tariff: { text: 1, media: 2 }, credentialsKey: 'a key for tests, 0123456789 abcdefgh' };

const refusal = (options: object) =>
  startRefusal((given: never) => MessagingModule.forRoot(given), { ...OPTIONS, ...options });
const withTransport = (transport: unknown) => refusal({ sms: { ...OPTIONS.sms, transport } });
const withMsgapp = (transport: unknown) => refusal({ msgapp: { ...MSGAPP, transport } });

/** A carrier as it is written without TypeScript. */
const carrier = (over: object = {}): object => ({
  name: 'plain',
  repeat: 'at-least-once',
  start: async () => undefined,
  stop: async () => undefined,
  submit: async () => [],
  ...over,
});

describe('a host’s port must have the methods that are called', () => {
  test.each<[string, object, string]>([
    ['userTokens', { useValue: {} }, 'must give a UserTokenVerifier; it has no method verify'],
    ['userTokens', { useFactory: () => ({ verify: 'yes' }) }, 'must give a UserTokenVerifier; it has no method verify'],
    ['mediaFetcher', { useValue: {} }, 'must give a MediaFetcher; it has no method fetch'],
    ['clock', { useValue: { now: () => 1 } }, 'must give a Clock; it has no method after'],
    [
      'clock',
      { useValue: { now: () => 1, after: () => () => undefined } },
      'must give a Clock; it has no method elapsed',
    ],
    ['ids', class Ids {}, 'must give an IdGenerator; it has no method next'],
    [
      'notifier',
      { useFactory: async () => ({ publish: () => undefined }) },
      'must give a Notifier; it has no method listen',
    ],
    ['storage', class Empty {}, 'must give a MessagingStorage; it has no method start'],
    ['storage', { useValue: { start: () => undefined } }, 'must give a MessagingStorage; it has no method store'],
    ['storage', SandboxSmsTransport, 'must give a MessagingStorage; SandboxSmsTransport is a SmsTransport'],
    [
      'storage',
      { useValue: new RecordingTransport() },
      'must give a MessagingStorage; RecordingTransport is a SmsTransport',
    ],
    ['clock', MemoryStorage, 'must give a Clock; MemoryStorage is a MessagingStorage'],
  ])('%s: %p', async (name, source, sentence) => {
    expect(await refusal({ [name]: source })).toBe(`Option ${name} ${sentence}.`);
  });

  test.each<[unknown, string]>([
    [MemoryStorage, 'MemoryStorage is a MessagingStorage'],
    [SandboxMsgappTransport, 'SandboxMsgappTransport is a MsgappTransport'],
    [{ useValue: carrier({ start: undefined }) }, 'it has no method start'],
    [{ useValue: carrier({ submit: 5 }) }, 'it has no method submit'],
    [{ useFactory: () => carrier({ stop: undefined }) }, 'it has no method stop'],
    [{ useValue: carrier({ name: '' }) }, 'its name must be a text'],
    [
      { useValue: carrier({ repeat: 'sometimes' }) },
      'its repeat must be "idempotent", "at-least-once" or "at-most-once"; got "sometimes"',
    ],
    [
      { useValue: carrier({ repeat: undefined }) },
      'its repeat must be "idempotent", "at-least-once" or "at-most-once"; got undefined',
    ],
    [{ useValue: carrier({ capacity: 5 }) }, 'it has no method capacity'],
    [{ useValue: carrier({ timing: 5 }) }, 'its timing must be an object'],
    [{ useValue: carrier({ callbacks: {} }) }, 'its callbacks must be a Map'],
  ])('sms.transport: %p', async (transport, sentence) => {
    expect(await withTransport(transport)).toBe(`Option sms.transport must give a SmsTransport; ${sentence}.`);
  });

  test('msgapp.transport', async () => {
    const sentence = 'Option msgapp.transport must give a MsgappTransport;';
    expect(await withMsgapp(SandboxSmsTransport)).toBe(`${sentence} SandboxSmsTransport is a SmsTransport.`);
    expect(await withMsgapp({ useValue: carrier() })).toBe(`${sentence} it has no method open.`);
  });

  test('the transport of a route', async () => {
    const routes = (transport: never) => RoutedSmsTransport.forRoot({ routes: [{ name: 'a', transport }] });
    const useFactory = () => carrier({ submit: 5 });
    expect(await withTransport(Reflect.apply(routes, undefined, [{ useFactory }]))).toBe(
      'Option routed.routes[0].transport must give a SmsTransport; it has no method submit.',
    );
    expect(() => Reflect.apply(routes, undefined, [MemoryStorage])).toThrow(
      'Option routed.routes[0].transport must give a SmsTransport; MemoryStorage is a MessagingStorage.',
    );
  });

  test('the error describes the wrong object, but never shows it', async () => {
    expect(await withTransport({ useFactory: () => 'smpp://app:hunter2@host' })).toBe(
      'Option sms.transport must give a SmsTransport; got a string.',
    );
    expect(await refusal({ storage: { useValue: null } })).toBe(
      'Option storage must give a MessagingStorage; got null.',
    );
  });
});

describe('a class is checked after it was instantiated', () => {
  test('with its injected dependencies, its lifecycle and its own name', async () => {
    const inits: string[] = [];
    @Injectable()
    class Injecting extends RecordingTransport implements OnModuleInit {
      override readonly submit = async () => [];
      constructor(readonly clock: Clock) {
        super();
      }
      onModuleInit(): void {
        inits.push(this.constructor.name);
      }
    }
    class AppModule {}
    const messaging = MessagingModule.forRoot({ ...OPTIONS, sms: { ...OPTIONS.sms, transport: Injecting } });
    const app = await NestFactory.createApplicationContext(
      { module: AppModule, imports: [messaging] },
      { logger: false, abortOnError: false },
    );
    const transport = app.get(SmsTransport, { strict: false });
    expect(transport).toBeInstanceOf(Injecting);
    expect(transport).toHaveProperty('clock', expect.any(DatabaseClock));
    expect(transport.constructor).toBe(Injecting);
    expect(inits).toEqual(['Injecting']);
    await app.close();
  });

  test('a transport without a base class gets the default for each method that it leaves out', async () => {
    expect(await withTransport({ useValue: carrier() })).toBeUndefined();
  });
});
