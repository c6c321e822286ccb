import { describe, expect, test } from '@jest/globals';
import {
  type AccountOptions,
  type LegacyBearerOptions,
  resolveAccountSettings,
} from '../../../src/accounts/account-options.js';
import type { PostingOptions } from '../../../src/billing/ledger-service.js';
import { compileTariff, type TariffOptions } from '../../../src/billing/tariff.js';
import { catalogueOf, type Locale } from '../../../src/common/text/catalogue.js';
import { type LoginHookOptions, resolveLoginHookSettings } from '../../../src/hooks/login-hook-options.js';
import { type HttpOptions, resolveHttpSettings } from '../../../src/http/http-options.js';
import { type MediaOptions, resolveMediaSettings } from '../../../src/media/media-options.js';
import { TypeormStorage, type TypeormStorageOptions } from '../../../src/messaging/typeorm-storage.js';
import { type MsgappOptions, resolveMsgappSettings } from '../../../src/msgapp/msgapp-options.js';
import type { Pacing, SessionTiming } from '../../../src/msgapp/msgapp-transport.js';
import { type OtpLimits, resolveLimits } from '../../../src/otp/otp-limits.js';
import type { OtpOptions } from '../../../src/otp/otp-options.js';
import { resolveOtpSettings } from '../../../src/otp/otp-settings.js';
import type { OtpServiceOptions } from '../../../src/otp/otp-text.js';
import type { DeliveryTiming } from '../../../src/outbox/delivery/delivery-result.js';
import { type DispatchOptions, resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import { resolveSandboxOptions, type SandboxOptions } from '../../../src/sandbox/sandbox-options.js';
import type { OptOutWordsOption } from '../../../src/sms/opt-out/opt-out-words.js';
import { resolveSmsSettings, type SmsOptions } from '../../../src/sms/sms-options.js';
import { leftOut } from '../../support/mounting/left-out.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const TARIFF = { base: 1, international: 3, home: 'BF' };
const EXACT = { pepper: PEPPER };

const TIMING = leftOut<Partial<DeliveryTiming>>({
  leaseMs: undefined,
  maxAttempts: undefined,
  retryBaseMs: undefined,
  retryMaxMs: undefined,
  reportDeadlineMs: undefined,
  maxAwayMs: undefined,
});

describe('an option that is undefined counts as left out, for the compiler and at run time', () => {
  test('of log-in hooks', () => {
    const options: LoginHookOptions = {
      ...EXACT,
      ...leftOut<Omit<LoginHookOptions, 'pepper'>>({
        previousPepper: undefined,
        limits: undefined,
        baseUrl: undefined,
      }),
    };
    const { text: _, ...settings } = resolveLoginHookSettings(options);
    const { text: __, ...bare } = resolveLoginHookSettings(EXACT);
    expect(settings).toEqual(bare);
  });

  test('of accounts and HTTP', () => {
    const bearer: LegacyBearerOptions = leftOut<LegacyBearerOptions>({
      deprecatedAt: undefined,
      sunset: undefined,
      link: undefined,
    });
    const accounts: AccountOptions = {
      signatures: ['A', 'B', 'C'],
      ...leftOut<AccountOptions>({ legacyBearer: undefined }),
    };
    const bare = { signatures: ['A', 'B', 'C'] };
    const texts = catalogueOf('fr');
    expect(resolveAccountSettings(accounts, texts)).toEqual(resolveAccountSettings(bare, texts));
    expect(resolveAccountSettings({ ...bare, legacyBearer: bearer }, texts)).toEqual(
      resolveAccountSettings({ ...bare, legacyBearer: {} }, texts),
    );

    const http: HttpOptions = leftOut<HttpOptions>({
      path: undefined,
      controllers: undefined,
      limits: undefined,
      locale: undefined,
      maxRecipients: undefined,
    });
    const limits: NonNullable<HttpOptions['limits']> = { bodyBytes: undefined, requestMs: undefined };
    const locale: Locale = { 'error.timeout': undefined };
    for (const given of [http, { limits }, { locale }])
      expect(resolveHttpSettings(given)).toEqual(resolveHttpSettings());
  });

  test('of delivery and media', () => {
    const dispatch: DispatchOptions = leftOut<DispatchOptions>({
      batchSize: undefined,
      concurrency: undefined,
      pollMs: undefined,
      shutdownMs: undefined,
    });
    expect(resolveDispatchSettings(dispatch)).toEqual(resolveDispatchSettings());
    const media: MediaOptions = leftOut<MediaOptions>({ allow: undefined });
    expect(resolveMediaSettings(media)).toEqual(resolveMediaSettings());
  });

  test('of SMS', () => {
    const sms: SmsOptions = {
      tariff: TARIFF,
      ...leftOut<SmsOptions>({
        maxRecipients: undefined,
        maxSegments: undefined,
        strictNumbers: undefined,
        transliterate: undefined,
        delivery: undefined,
        callbackBaseUrl: undefined,
        optOutWords: undefined,
        inboundSignatures: undefined,
        windows: undefined,
      }),
    };
    const anyTariff = { tariff: expect.anything() };
    expect(resolveSmsSettings(sms)).toEqual({ ...resolveSmsSettings({ tariff: TARIFF }), ...anyTariff });
    expect(resolveSmsSettings({ tariff: TARIFF, delivery: TIMING }).delivery).toStrictEqual({});
    const tariff: TariffOptions = {
      ...TARIFF,
      ...leftOut<TariffOptions>({ countries: undefined, prefixes: undefined }),
    };
    expect(compileTariff(tariff).unitsFor('22670000000')).toBe(1);
    const words: OptOutWordsOption = leftOut<OptOutWordsOption>({ stop: undefined, start: undefined });
    const { optOutWords } = resolveSmsSettings({ tariff: TARIFF, optOutWords: words });
    expect(optOutWords).toEqual(resolveSmsSettings({ tariff: TARIFF }).optOutWords);
  });

  test('of a messaging-app channel', () => {
    const needed = { tariff: { text: 1, media: 2 }, credentialsKey: PEPPER };
    const msgapp: MsgappOptions = {
      ...needed,
      ...leftOut<MsgappOptions>({
        channel: undefined,
        strictNumbers: undefined,
        pacing: undefined,
        delivery: undefined,
        sessions: undefined,
        connects: undefined,
      }),
    };
    expect(resolveMsgappSettings(msgapp)).toEqual(resolveMsgappSettings(needed));
    const pacing = leftOut<Partial<Pacing>>({ perMinute: undefined, jitter: undefined });
    const sessions = leftOut<Partial<SessionTiming>>({
      leaseMs: undefined,
      scanMs: undefined,
      answerMs: undefined,
      steadyMs: undefined,
      staggerMs: undefined,
    });
    const parts: MsgappOptions = { ...needed, delivery: TIMING, pacing, sessions };
    // An undefined option must not override what the transport says.
    expect(resolveMsgappSettings(parts)).toStrictEqual(
      resolveMsgappSettings({ ...needed, delivery: {}, pacing: {}, sessions: {} }),
    );
  });

  test('of one-time passcodes', () => {
    const otp: OtpOptions = {
      ...EXACT,
      ...leftOut<OtpOptions>({
        length: undefined,
        validitySeconds: undefined,
        triesPerCode: undefined,
        limits: undefined,
        maxGuessChance: undefined,
        services: undefined,
      }),
    };
    const shop: OtpServiceOptions = leftOut<OtpServiceOptions>({
      signature: undefined,
      template: undefined,
      webOtpHost: undefined,
      retrieverHash: undefined,
    });
    const [plain, blank] = [EXACT, { ...otp, services: { shop } }].map((options) => resolveOtpSettings(options));
    expect(blank?.specimenOf('shop')).toBe(plain?.specimenOf('shop'));
    expect(blank?.limits).toEqual(plain?.limits);
    const limits: OtpLimits = leftOut<OtpLimits>({
      preset: undefined,
      sends: undefined,
      sendsPerNumber: undefined,
      sendsEverywhere: undefined,
      cooldownSeconds: undefined,
      wrongTries: undefined,
      countries: undefined,
      prefixBreaker: undefined,
      countryBreaker: undefined,
      spendPerDay: undefined,
    });
    expect(resolveLimits(limits)).toEqual(resolveLimits());
  });

  test('of the sandbox, the storage and the ledger', () => {
    const sandbox: SandboxOptions = leftOut<SandboxOptions>({
      path: undefined,
      hosts: undefined,
      docs: undefined,
      apiKey: undefined,
    });
    expect(resolveSandboxOptions(sandbox)).toEqual(resolveSandboxOptions());
    const storage: TypeormStorageOptions = { url: 'sqlite::memory:', migrations: undefined };
    expect(TypeormStorage.forRoot(storage).useFactory()).toBeInstanceOf(TypeormStorage);
    const posting: PostingOptions = leftOut<PostingOptions>({
      reference: undefined,
      note: undefined,
      host: undefined,
      by: undefined,
    });
    expect(posting.note).toBeUndefined();
  });
});
