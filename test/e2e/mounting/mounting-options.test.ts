import { describe, expect, test } from '@jest/globals';
import type { DynamicModule } from '@nestjs/common';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import type { CoreFactoryOptions, CoreGraphOptions } from '../../../src/core/core-options.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import type {
  MessagingAsyncOptions,
  MessagingOptions,
  SmsGraphOptions,
  SmsModuleOptions,
} from '../../../src/messaging/module-options.js';
import { MsgappModule } from '../../../src/msgapp/msgapp.module.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { type Adapter, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { leftOut } from '../../support/mounting/left-out.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { mount, unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

const { sms: SMS, storage: _, ...VALUES } = OPTIONS;
const STORAGE = MemoryStorage;
const { tariff: TARIFF } = SMS;

/**
 * Starts an application that gets these options unchecked, as in JavaScript. Returns the sentence with which it fails.
 */
async function sentence(
  make: (options: never) => DynamicModule,
  options: unknown,
  adapter: Adapter = 'express',
): Promise<string> {
  const started = async () => mount(adapter, [Reflect.apply(make, undefined, [options])]);
  const error = await started().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MessagingOptionsError);
  return error instanceof Error ? error.message : '';
}

const forRoot = (options: never) => MessagingModule.forRoot(options);
const forRootAsync = (options: never) => MessagingModule.forRootAsync(options);
const smsForRoot = (options: never) => SmsModule.forRoot(options);
const otpForRoot = (options: never) => OtpModule.forRoot(options);
const msgappForRoot = (options: never) => MsgappModule.forRoot(options);
const smsForRootAsync = (options: never) => SmsModule.forRootAsync(options);

/** Wrong options that shape the module graph: the option that the sentence must name, and the options. */
const GRAPH: [string, object][] = [
  ...['', '/', 'a//b', '../x', 'a/:id', 'a b', 'é', '*', 7, null].map((path): [string, object] => ['path', { path }]),
  ...['no', 0, null].map((controllers): [string, object] => ['controllers', { controllers }]),
  ...[5, 'sqlite:x', {}, { url: 'sqlite:x' }, [], () => undefined, { useFactory: 5 }].map(
    (storage): [string, object] => ['storage', { storage }],
  ),
  ['storage', { storage: { useValue: undefined } }],
  ['storage', { storage: { useFactory: () => undefined } }],
  ['storage', { storage: { useFactory: async () => 'nothing' } }],
  ['userTokens', { userTokens: 'jwt' }],
  ['userTokens', { userTokens: { useFactory: () => null } }],
  ['clock', { clock: 5 }],
  ['clock', { clock: { useValue: 5 } }],
  ['ids', { ids: 'uuid' }],
  ['notifier', { notifier: true }],
  ...['storage', 'userTokens', 'clock', 'ids', 'notifier', 'mediaFetcher'].map((port): [string, object] => [
    port,
    { [port]: null },
  ]),
];

/** Wrong options of the core. */
const WRONG: [string, object][] = [
  ...[undefined, 'INFOS', [], ['A', 'A', 'B'], ['A', 'B', 'far too long'], ['A', 'B', 5]].map(
    (signatures): [string, object] => ['signatures', { signatures }],
  ),
  ['legacyBearer', { legacyBearer: 'yes' }],
  ['legacyBearer', { legacyBearer: null }],
  ['legacyBearer.deprecatedAt', { legacyBearer: { deprecatedAt: '2026-01-01' } }],
  ['legacyBearer.deprecatedAt', { legacyBearer: { deprecatedAt: new Date(Number.NaN) } }],
  ['legacyBearer.sunset', { legacyBearer: { sunset: 5 } }],
  ['legacyBearer.sunset', { legacyBearer: { sunset: new Date(0) } }],
  ['legacyBearer.link', { legacyBearer: { link: 'keys.html' } }],
  ['legacyBearer.link', { legacyBearer: { link: 'javascript:alert(1)' } }],
  ['legacyBearer.url', { legacyBearer: { url: 'https://example.com' } }],
  ['limits', { limits: 5 }],
  ['limits', { limits: null }],
  ['limits', { limits: [] }],
  ...[0, -1, 1.5, '1000', Number.NaN, 268_435_457].map((bodyBytes): [string, object] => [
    'limits.bodyBytes',
    { limits: { bodyBytes } },
  ]),
  ...[0, 1.5, '30', 3_600_001].map((requestMs): [string, object] => ['limits.requestMs', { limits: { requestMs } }]),
  ['limits.bodyByte', { limits: { bodyByte: 5 } }],
  ...['de', '', 7, { 'error.nonsense': 'x' }, { 'error.timeout': '' }, { 'error.timeout': 5 }].map(
    (locale): [string, object] => ['locale', { locale }],
  ),
  ['dispatch', { dispatch: false }],
  ['dispatch.enabled', { dispatch: { enabled: false } }],
  ...['workers', '', 0, false, null, ['api']].map((role): [string, object] => ['role', { role }]),
  ['dispatch.batchSize', { dispatch: { batchSize: 0 } }],
  ['dispatch.batchSize', { dispatch: { batchSize: 5001 } }],
  ['dispatch.concurrency', { dispatch: { concurrency: 65 } }],
  ['dispatch.pollMs', { dispatch: { pollMs: 9 } }],
  ['dispatch.pollMs', { dispatch: { pollMs: null } }],
  ['locale', { locale: [] }],
  ['dispatch.shutdownMs', { dispatch: { shutdownMs: -1 } }],
  ['dispatch.workers', { dispatch: { workers: 2 } }],
  ['signature', { signature: 'INFOS' }],
  ['constructor', { constructor: 1 }],
];

/** Wrong options of SMS. */
const WRONG_SMS: [string, object][] = [
  ['tariff', { tariff: undefined }],
  ['tariff', { tariff: null }],
  ['tariff', { tariff: 5 }],
  ...[-1, 1.5, '1', undefined, 1_000_001].map((base): [string, object] => [
    'tariff.base',
    { tariff: { ...TARIFF, base } },
  ]),
  ['tariff.international', { tariff: { ...TARIFF, international: -1 } }],
  ...['bf', 'XX', '', undefined, 5].map((home): [string, object] => ['tariff.home', { tariff: { ...TARIFF, home } }]),
  ['tariff.countries', { tariff: { ...TARIFF, countries: ['SN'] } }],
  ['tariff.countries.UK', { tariff: { ...TARIFF, countries: { UK: 1 } } }],
  ['tariff.countries.SN', { tariff: { ...TARIFF, countries: { SN: '2' } } }],
  ['tariff.prefixes', { tariff: { ...TARIFF, prefixes: 5 } }],
  ['tariff.prefixes.+221', { tariff: { ...TARIFF, prefixes: { '+221': 1 } } }],
  ['tariff.prefixes.221', { tariff: { ...TARIFF, prefixes: { 221: -1 } } }],
  ['tariff.local', { tariff: { ...TARIFF, local: 1 } }],
  ...[0, 256, 1.5, '5', null].map((maxSegments): [string, object] => ['maxSegments', { maxSegments }]),
  ...[0, 1_000_001, 1.5, '5', null].map((maxRecipients): [string, object] => ['maxRecipients', { maxRecipients }]),
  ['strictNumbers', { strictNumbers: 'yes' }],
  ['strictNumbers', { strictNumbers: 1 }],
  ...['on', true, null].map((transliterate): [string, object] => ['transliterate', { transliterate }]),
  ['delivery', { delivery: 5 }],
  ['delivery', { delivery: null }],
  ...['leaseMs', 'maxAttempts', 'retryBaseMs', 'retryMaxMs', 'reportDeadlineMs'].flatMap((name): [string, object][] =>
    [0, 1.5, '5', 1e12].map((value) => [`delivery.${name}`, { delivery: { [name]: value } }]),
  ),
  ['delivery.attempts', { delivery: { attempts: 5 } }],
  ['maxSegment', { maxSegment: 5 }],
];

const WRONG_TRANSPORT = [null, 5, 'smpp', {}, [], () => undefined, { useFactory: () => undefined }, { useValue: 5 }];

const escaped = (text: string): string => text.replace(/[.+]/g, '\\$&');

/** A sentence that begins with the option and ends as sentences do. */
const naming = (name: string): RegExp => new RegExp(`^(The o|O)ption ${escaped(name)}\\b.*`);

describe('a wrong option stops the start with a sentence that names it', () => {
  // Options are read before there are routes, so the adapter makes no difference to them.
  test.each<Adapter>(['express', 'fastify'])('on %s', async (adapter) => {
    const useFactory = () => ({ ...VALUES, sms: SMS, locale: 'de' });
    expect(await sentence(forRoot, { ...OPTIONS, path: '/' }, adapter)).toMatch(naming('path'));
    expect(await sentence(forRoot, { ...OPTIONS, locale: 'de' }, adapter)).toMatch(naming('locale'));
    expect(await sentence(forRootAsync, { storage: STORAGE, useFactory }, adapter)).toMatch(naming('locale'));
  });

  test.each([...GRAPH, ...WRONG])('%s: %j', async (name, wrong) => {
    expect(await sentence(forRoot, { ...OPTIONS, ...wrong })).toMatch(naming(name));
    expect(await sentence(smsForRoot, { ...VALUES, ...SMS, storage: STORAGE, ...wrong })).toMatch(naming(name));
  });

  test.each(WRONG_SMS)('sms.%s: %j', async (name, wrong) => {
    expect(await sentence(forRoot, { ...OPTIONS, sms: { ...SMS, ...wrong } })).toMatch(naming(`sms.${name}`));
    expect(await sentence(smsForRoot, { ...VALUES, ...SMS, storage: STORAGE, ...wrong })).toContain(name);
    const core = MessagingCore.forRoot({ ...VALUES, storage: STORAGE });
    expect(await sentence(smsForRoot, { core, ...SMS, ...wrong })).toContain(name);
  });

  test.each(WRONG_TRANSPORT.map((transport) => [transport]))('sms.transport: %p', async (transport) => {
    expect(await sentence(forRoot, { ...OPTIONS, sms: { ...SMS, transport } })).toMatch(naming('sms.transport'));
  });

  test.each([
    ...WRONG,
    ...WRONG_SMS.map(([name, sms]): [string, object] => [`sms.${name}`, { sms: { ...SMS, ...sms } }]),
  ])('from a factory too, %s: %j', async (name, wrong) => {
    const useFactory = async () => ({ ...VALUES, sms: SMS, ...wrong });
    expect(await sentence(forRootAsync, { storage: STORAGE, useFactory })).toMatch(naming(name));
  });

  test.each(GRAPH)('beside a factory too, %s: %j', async (name, wrong) => {
    const useFactory = () => ({ ...VALUES, sms: SMS });
    expect(await sentence(forRootAsync, { storage: STORAGE, useFactory, ...wrong })).toMatch(naming(name));
  });

  test('options from a factory that come too late for the module graph are refused, not ignored', async () => {
    const late = (values: object) => ({ storage: STORAGE, useFactory: () => ({ ...VALUES, sms: SMS, ...values }) });
    expect(await sentence(forRootAsync, late({ path: 'x' }))).toMatch(naming('path'));
    expect(await sentence(forRootAsync, late({ storage: STORAGE }))).toMatch(naming('storage'));
    expect(await sentence(forRootAsync, late({ sms: { ...SMS, transport: STORAGE } }))).toMatch(
      naming('sms.transport'),
    );
    const useFactory = () => ({ ...VALUES, ...SMS, transport: STORAGE });
    expect(await sentence(smsForRootAsync, { storage: STORAGE, useFactory })).toMatch(naming('transport'));
  });

  test('missing options, missing SMS options, a missing factory, a factory that returns nothing', async () => {
    expect(await sentence(forRoot, undefined)).toBe('The options must be an object.');
    expect(await sentence(smsForRoot, null)).toBe('The options must be an object.');
    expect(await sentence(forRoot, { ...VALUES, storage: STORAGE })).toMatch(naming('sms'));
    expect(await sentence(forRoot, { ...OPTIONS, sms: 'yes' })).toBe('Option sms must be an object.');
    expect(await sentence(forRootAsync, { storage: STORAGE })).toBe('Option useFactory must be a function.');
    expect(await sentence(forRootAsync, { storage: STORAGE, useFactory: () => undefined })).toBe(
      'The options must be an object.',
    );
  });

  test('a core that is not one, or options of the core beside one', async () => {
    for (const core of [undefined, null, 5, {}, { module: MessagingCore }]) {
      expect(await sentence(smsForRoot, { core, ...SMS })).toMatch(naming('core'));
    }
    for (const make of [smsForRoot, otpForRoot, msgappForRoot, smsForRootAsync]) {
      const given = { ...OPTIONS, ...SMS, core: undefined };
      expect(await sentence(make, given)).toBe('Option core must be what MessagingCore.forRoot or forRootAsync gave.');
    }
    const core = MessagingCore.forRoot({ ...VALUES, storage: STORAGE });
    expect(await sentence(smsForRoot, { core, ...SMS, path: 'x' })).toBe(
      'Option path is not known; the known options are core, transport, tariff, maxRecipients, maxSegments, strictNumbers, transliterate, delivery, callbackBaseUrl, optOutWords, inboundSignatures, windows.',
    );
  });
});

describeOnBothAdapters('an option that is undefined', (adapter) => {
  const graph = leftOut<CoreGraphOptions>({
    path: undefined,
    controllers: undefined,
    storage: undefined,
    userTokens: undefined,
    clock: undefined,
    ids: undefined,
    notifier: undefined,
    mediaFetcher: undefined,
    telemetry: undefined,
  });
  const values = leftOut<CoreFactoryOptions>({
    legacyBearer: undefined,
    locale: undefined,
    limits: undefined,
    role: undefined,
    dispatch: undefined,
    media: undefined,
    retention: undefined,
    health: undefined,
  });
  const transport = leftOut<SmsGraphOptions>({ transport: undefined });
  const others = leftOut<Omit<MessagingOptions, keyof CoreGraphOptions>>({
    ...values,
    otp: undefined,
    msgapp: undefined,
    webhooks: undefined,
    hooks: undefined,
    campaigns: undefined,
    management: undefined,
  });

  test('counts as left out', async () => {
    const options: MessagingOptions = {
      ...OPTIONS,
      ...graph,
      ...others,
      storage: STORAGE,
      sms: { ...SMS, ...transport, maxSegments: undefined, delivery: undefined },
    };
    await mount(adapter, [MessagingModule.forRoot(options)]);
  });

  test('also counts as left out beside a factory and in its result', async () => {
    const beside = leftOut<
      Omit<MessagingAsyncOptions, keyof CoreGraphOptions | 'useFactory'> & { readonly inject?: unknown }
    >({
      imports: undefined,
      inject: undefined,
      useClass: undefined,
      useExisting: undefined,
      sms: undefined,
      otp: undefined,
      msgapp: undefined,
      webhooks: undefined,
      hooks: undefined,
      campaigns: undefined,
      management: undefined,
    });
    const useFactory = () => ({ ...VALUES, ...others, sms: SMS });
    const options: MessagingAsyncOptions = { ...graph, ...beside, storage: STORAGE, useFactory };
    await mount(adapter, [MessagingModule.forRootAsync(options)]);
  });

  test('also counts as left out for a single capability', async () => {
    const options: SmsModuleOptions = { ...VALUES, ...graph, ...values, ...transport, ...SMS, storage: STORAGE };
    await mount(adapter, [SmsModule.forRoot(options)]);
  });

  test('also counts as left out for the factory of a port', async () => {
    const storage: CoreGraphOptions['storage'] = {
      imports: undefined,
      inject: undefined,
      useFactory: () => new MemoryStorage(),
    };
    await mount(adapter, [MessagingModule.forRoot({ ...OPTIONS, storage })]);
  });
});
