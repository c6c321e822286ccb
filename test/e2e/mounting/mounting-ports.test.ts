import { afterEach, expect, test } from '@jest/globals';
import {
  type Abstract,
  type DynamicModule,
  Global,
  Injectable,
  Logger,
  type LoggerService,
  Module,
  type Provider,
  type Type,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { UserTokenVerifier } from '../../../src/accounts/users/user-token-verifier.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { Clock } from '../../../src/common/clock.js';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { IdGenerator, UuidGenerator } from '../../../src/common/ids.js';
import { LocalNotifier, Notifier } from '../../../src/common/notifier.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { SmsTransport } from '../../../src/sms/sms-transport.js';
import { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { eventually } from '../../support/common/eventually.js';
import { describeOnBothAdapters, type RunningApp, startApp } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { alsoUnmount, clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const withTransport = (transport: never): DynamicModule =>
  MessagingModule.forRoot({ ...OPTIONS, sms: { ...OPTIONS.sms, transport } });
const withStorage = (storage: never): DynamicModule => MessagingModule.forRoot({ ...OPTIONS, storage });

unmountAfterEach();

/** A dependency that a carrier of the host may need. */
@Injectable()
class CarrierAccount {
  readonly login = 'acme';
}

@Module({ providers: [CarrierAccount], exports: [CarrierAccount] })
class CarrierModule {}

class NamedTransport extends RecordingTransport {
  constructor(override readonly name: string) {
    super();
  }
}

@Injectable()
class InjectedTransport extends RecordingTransport {
  constructor(readonly clock: Clock) {
    super();
  }
}

@Module({ providers: [{ provide: SmsTransport, useClass: RecordingTransport }], exports: [SmsTransport] })
class TransportModule {}

/** Sends one SMS and checks whether it went through the carrier of this application. */
async function goesThrough(running: RunningApp): Promise<RecordingTransport> {
  const transport = running.app.get(SmsTransport, { strict: false });
  if (!(transport instanceof RecordingTransport)) throw new Error(`The carrier is ${transport.name}.`);
  const client = await clientOf(running);
  const { smsID } = await client.sent(SEND);
  await eventually(
    () => client.details(smsID),
    ({ recipients }) => recipients[0]?.status === 'delivered',
  );
  expect(transport.taken).toEqual([
    {
      smsId: smsID,
      position: 0,
      signature: 'INFOS',
      number: '22670000000',
      text: 'Bonjour',
      attempt: 1,
      priority: 'normal',
    },
  ]);
  expect(transport.started).toBe(1);
  return transport;
}

describeOnBothAdapters('a carrier of the host', (adapter) => {
  test.each<[string, () => unknown]>([
    ['a class', () => RecordingTransport],
    ['a class that injects what the core has', () => InjectedTransport],
    ['a value', () => ({ useValue: new RecordingTransport() })],
    ['a factory', () => ({ useFactory: () => new RecordingTransport() })],
    [
      'a factory that injects',
      () => ({
        imports: [CarrierModule],
        inject: [CarrierAccount],
        useFactory: async ({ login }: CarrierAccount) => new NamedTransport(login),
      }),
    ],
    ['a dynamic module that exports it', () => ({ module: TransportModule })],
    ['a module’s class', () => TransportModule],
    [
      'a module that passes it on',
      () => {
        @Module({ imports: [TransportModule], exports: [TransportModule] })
        class Outer {}
        return { module: Outer };
      },
    ],
  ])('given as %s', async (_how, transport) => {
    const running = await mount(adapter, [Reflect.apply(withTransport, undefined, [transport()])]);
    const used = await goesThrough(running);
    expect(used.name).toMatch(/^(recording|acme)$/);
    await running.app.close();
    expect(used.stopped).toBe(1);
  });

  test('substituted for ours by a test', async () => {
    const transport = new RecordingTransport();
    const compiled = await Test.createTestingModule({ imports: [MessagingModule.forRoot(OPTIONS)] })
      .overrideProvider(SmsTransport)
      .useValue(transport)
      .compile();
    expect(await goesThrough(alsoUnmount(await startApp(compiled, adapter)))).toBe(transport);
  });
});

describeOnBothAdapters('other ports of the host', (adapter) => {
  test('may come from modules too: the clock, the ids, the notifier and the user tokens', async () => {
    const clock = new FakeClock(Date.UTC(2030, 0, 1));
    const notifier = new LocalNotifier();
    const tokens = { verify: async () => undefined };
    const exporting = (token: Abstract<object>, useValue: object): DynamicModule => {
      class PortModule {}
      return { module: PortModule, providers: [{ provide: token, useValue }], exports: [token] };
    };
    const running = await mount(adapter, [
      MessagingModule.forRoot({
        ...OPTIONS,
        clock: exporting(Clock, clock),
        notifier: exporting(Notifier, notifier),
        userTokens: exporting(UserTokenVerifier, tokens),
        ids: exporting(IdGenerator, new UuidGenerator()),
      }),
    ]);
    const client = await clientOf(running);
    expect((await client.sent(SEND)).date_sent).toBe('2030-01-01T00:00:00.000Z');
    expect(running.app.get(Notifier, { strict: false })).toBe(notifier);
    expect(running.app.get(UserTokenVerifier, { strict: false })).toBe(tokens);
  });
});

describeOnBothAdapters('a storage of the host', (adapter) => {
  test('substituted for ours by a test', async () => {
    class Watched extends MemoryStorage {
      readonly calls: string[] = [];
      override async start(): Promise<void> {
        this.calls.push('start');
        await super.start();
      }
      override async stop(): Promise<void> {
        this.calls.push('stop');
        await super.stop();
      }
    }
    const storage = new Watched();
    const { storage: _, ...options } = OPTIONS;
    const compiled = await Test.createTestingModule({
      imports: [
        MessagingModule.forRoot({
          ...options,
          storage: TypeormStorage.forRoot({ url: 'postgres://127.0.0.1:1/none' }),
        }),
      ],
    })
      .overrideProvider(MessagingStorage)
      .useValue(storage)
      .compile();
    const running = alsoUnmount(await startApp(compiled, adapter));
    const client = await clientOf(running);
    await client.sent(SEND);
    expect(await storage.store(LedgerStore).balance(client.accountId)).toBe(9);
    await running.app.close();
    expect(storage.calls).toEqual(['start', 'stop']);
  });

  /** As `@nestjs/typeorm` does: one global module provides the DataSource by its class. */
  const typeormRoot = (dataSource: DataSource): DynamicModule => {
    @Global()
    @Module({})
    class TypeOrmRoot {}
    return {
      module: TypeOrmRoot,
      providers: [{ provide: DataSource, useFactory: () => dataSource.initialize() }],
      exports: [DataSource],
    };
  };

  test('is the DataSource that it has already, which stays its own', async () => {
    const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
    const running = await mount(adapter, [
      MessagingModule.forRoot({ ...OPTIONS, storage: TypeormStorage.forRoot({ dataSource: DataSource }) }),
      typeormRoot(dataSource),
    ]);
    const client = await clientOf(running);
    const { smsID } = await client.sent(SEND);
    expect(await dataSource.query('SELECT id FROM messaging_message')).toEqual([{ id: smsID }]);
    await running.app.close();
    expect(dataSource.isInitialized).toBe(true);
    await dataSource.destroy();
  });

  test('is named but cannot be found: a sentence says what to import', async () => {
    const start = mount(adapter, [
      MessagingModule.forRoot({ ...OPTIONS, storage: TypeormStorage.forRoot({ dataSource: DataSource }) }),
    ]);
    await expect(start).rejects.toThrow(MessagingOptionsError);
    await expect(start).rejects.toThrow(/^Option storage names a DataSource .* TypeOrmModule\.forRoot/);
  });

  test('is at a URL of an unknown kind', () => {
    expect(() => TypeormStorage.forRoot({ url: 'oracle://db' })).toThrow(/^Option storage: .*URL/);
  });

  test('is the class itself, which does not know its database', async () => {
    const start = mount(adapter, [Reflect.apply(withStorage, undefined, [TypeormStorage])]);
    await expect(start).rejects.toThrow(MessagingOptionsError);
    await expect(start).rejects.toThrow(
      'Option storage: TypeormStorage does not know its database: write TypeormStorage',
    );
  });
});

describeOnBothAdapters('a port that the host provides beside the options', (adapter) => {
  afterEach(() => Logger.overrideLogger(false));

  /** Starts and returns the warnings of the start. */
  const warnings = async (imports: (Type | DynamicModule)[], providers: Provider[] = []): Promise<unknown[]> => {
    const warned: unknown[] = [];
    const logger: LoggerService = { log() {}, error() {}, warn: (message) => void warned.push(message) };
    await mount(adapter, imports, { options: { logger }, host: { providers } });
    return warned;
  };
  test.each<[Abstract<object>, object]>([
    [SmsTransport, new RecordingTransport()],
    [MessagingStorage, new MemoryStorage()],
    [Clock, new FakeClock()],
  ])('causes a warning at the start: %p', async (port, value) => {
    const said = await warnings([MessagingModule.forRoot(OPTIONS)], [{ provide: port, useValue: value }]);
    expect(said).toEqual([
      `AppModule provides ${port.name}, which the messaging module does not see: give it in the options of forRoot.`,
    ]);
  });

  test('causes a warning in a global module that exports it, and in a module with the same name as ours', async () => {
    @Global()
    @Module({ providers: [{ provide: SmsTransport, useClass: RecordingTransport }], exports: [SmsTransport] })
    class SmsModule {}
    expect(await warnings([MessagingModule.forRoot(OPTIONS), SmsModule])).toEqual([
      expect.stringContaining('SmsModule provides SmsTransport'),
    ]);
  });

  test('causes no warning if it is the one that the options name, or if there is none', async () => {
    expect(await warnings([MessagingModule.forRoot(OPTIONS)])).toEqual([]);
    expect(await warnings([Reflect.apply(withTransport, undefined, [{ module: TransportModule }])])).toEqual([]);
  });
});
