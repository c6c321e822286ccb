import { describe, expect, test } from '@jest/globals';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import { WebhooksModule } from '../../../src/webhooks/webhooks.module.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { startRefusal } from '../../support/mounting/start-refusal.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const { storage, ...VALUES } = OPTIONS;
const otp = { pepper: PEPPER };
const msgapp = { tariff: { text: 1, media: 2 }, credentialsKey: 'a key for tests, 0123456789 abcdefgh' };

/** What is mounted beside a factory, and the options that the factory returns. */
const beside = (graph: object, values: object) =>
  startRefusal((options: never) => MessagingModule.forRootAsync(options), {
    storage,
    ...graph,
    useFactory: async () => ({ ...VALUES, ...values }),
  });

describe('a capability for which a factory returns options must be mounted beside it', () => {
  test('otp', async () => {
    const sentence = 'Option otp comes from the factory: write `otp: true` beside useFactory.';
    expect(await beside({}, { otp })).toBe(sentence);
    expect(await beside({ otp: undefined }, { otp })).toBe(sentence);
    expect(await beside({ otp: true }, { otp })).toBeUndefined();
  });

  test('webhooks', async () => {
    const sentence = 'Option webhooks comes from the factory: write `webhooks: true` beside useFactory.';
    expect(await beside({}, { webhooks: otp })).toBe(sentence);
    expect(await beside({ webhooks: true }, { webhooks: otp })).toBeUndefined();
  });

  test('unless the host says that it is not mounted', async () => {
    expect(
      await beside({ otp: false, msgapp: [], webhooks: false }, { otp, msgapp: [], webhooks: otp }),
    ).toBeUndefined();
  });

  test('msgapp, each channel', async () => {
    const sentence =
      'Option msgapp comes from the factory: write `msgapp: {}` beside useFactory, or a list with one for each channel.';
    expect(await beside({}, { msgapp })).toBe(sentence);
    expect(await beside({}, { msgapp: [msgapp, msgapp] })).toBe(sentence);
    expect(await beside({ msgapp: {} }, { msgapp: [msgapp, msgapp] })).toMatch(
      /^Option msgapp must be given as many times/,
    );
    expect(await beside({ msgapp: {} }, { msgapp })).toBeUndefined();
  });
});

describe('a mounted capability must have its options', () => {
  const sentence =
    'Option otp is missing: { pepper }, the secret that codes are derived from. Make one with "openssl rand -base64 48" and keep it outside the database.';

  test('otp, from a factory', async () => {
    expect(await beside({ otp: true }, {})).toBe(sentence);
    expect(await beside({ otp: true }, { otp: undefined })).toBe(sentence);
  });

  test('otp, of OtpModule', async () => {
    const forRoot = (options: never) => OtpModule.forRoot(options);
    const forRootAsync = (options: never) => OtpModule.forRootAsync(options);
    expect(await startRefusal(forRoot, OPTIONS)).toBe(sentence);
    expect(await startRefusal(forRootAsync, { storage, sms: {}, useFactory: () => VALUES })).toBe(sentence);
    const { sms: _, ...common } = OPTIONS;
    const core = MessagingCore.forRoot(common);
    expect(await startRefusal(forRoot, { core })).toBe(sentence);
    expect(await startRefusal(forRootAsync, { core, useFactory: () => ({}) })).toBe(sentence);
  });

  test('webhooks', async () => {
    const missing =
      'Option webhooks is missing: { pepper }, the secret that the secrets of endpoints are derived from. Make one with "openssl rand -base64 48" and keep it outside the database.';
    const forRoot = (options: never) => WebhooksModule.forRoot(options);
    const forRootAsync = (options: never) => WebhooksModule.forRootAsync(options);
    const { sms: _, ...common } = OPTIONS;
    const core = MessagingCore.forRoot(common);
    expect(await beside({ webhooks: true }, {})).toBe(missing);
    expect(await startRefusal(forRoot, { core })).toBe(missing);
    expect(await startRefusal(forRootAsync, { core, useFactory: () => ({}) })).toBe(missing);
    expect(await startRefusal(forRoot, { core, webhooks: otp })).toBeUndefined();
    expect(await startRefusal(forRootAsync, { core, useFactory: () => ({ webhooks: otp }) })).toBeUndefined();
    expect(await startRefusal(forRoot, { webhooks: otp })).toBe(
      'Option core must be what MessagingCore.forRoot or forRootAsync gave.',
    );
  });
});
