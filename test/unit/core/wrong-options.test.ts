import { describe, expect, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { formatValue } from '../../../src/common/options.js';
import { resolveHttpSettings } from '../../../src/http/http-options.js';
import { resolveMsgappSettings } from '../../../src/msgapp/msgapp-options.js';
import { resolveCredentialKeys } from '../../../src/msgapp/sessions/credential-cipher.js';
import { resolveOtpSettings } from '../../../src/otp/otp-settings.js';
import { resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { resolveSmsSettings } from '../../../src/sms/sms-options.js';

const PEPPER = 'a pepper for tests, 0123456789 abcdef';
const TARIFF = { base: 1, international: 3, home: 'BF' };

/** The error that is thrown for options that a host in JavaScript could write. */
function refusal(resolve: (given: never) => unknown, given: unknown): string {
  try {
    Reflect.apply(resolve, undefined, [given]);
  } catch (error) {
    expect(error).toBeInstanceOf(MessagingOptionsError);
    return error instanceof Error ? error.message : '';
  }
  throw new Error('It was not refused.');
}

describe('how error sentences show a wrong value', () => {
  test.each<[unknown, string]>([
    ['200', '"200"'],
    [200, '200'],
    [Number.NaN, 'NaN'],
    [null, 'null'],
    [undefined, 'undefined'],
    [5n, '5'],
    [true, 'true'],
    [['secret'], 'a list'],
    [{ secret: 1 }, 'an object'],
    [() => 'secret', 'a function'],
    [Symbol('x'), 'Symbol(x)'],
  ])('%p', (value, text) => {
    expect(formatValue(value)).toBe(text);
  });
});

describe('otp', () => {
  const otp = (options: object) => refusal((given: never) => resolveOtpSettings(given), { pepper: PEPPER, ...options });

  test.each<[object, string]>([
    [{ length: null }, 'Option otp.length must be an integer from 4 to 8; got null.'],
    [{ length: '6' }, 'Option otp.length must be an integer from 4 to 8; got "6".'],
    [{ validitySeconds: null }, 'Option otp.validitySeconds must be an integer from 1 to 3600; got null.'],
    [{ triesPerCode: 'x' }, 'Option otp.triesPerCode must be an integer from 1 to 10; got "x".'],
    [{ maxGuessChance: '1' }, 'Option otp.maxGuessChance must be a number from 0 to 1; got "1".'],
    [{ maxGuessChance: null }, 'Option otp.maxGuessChance must be a number from 0 to 1; got null.'],
    ...[5, true, [], null].map((limits): [object, string] => [
      { limits },
      `Option otp.limits must be "standard", "strict", "none" or an object; got ${formatValue(limits)}.`,
    ]),
    [{ limits: 'loose' }, 'Option otp.limits must be "standard", "strict", "none" or an object; got "loose".'],
    [{ limits: { preset: null } }, 'Option otp.limits.preset must be "standard", "strict" or "none"; got null.'],
    [{ limits: { send: [] } }, 'Option otp.limits.send is not known;'],
    [
      { limits: { countryBreaker: null } },
      'Option otp.limits.countryBreaker must be false or { codes, verifiedPercent }; got null.',
    ],
    [
      { limits: { countryBreaker: true } },
      'Option otp.limits.countryBreaker must be false or { codes, verifiedPercent }; got true.',
    ],
    [
      { limits: { countryBreaker: { codes: 1, verifiedPercent: 5, minutes: 5 } } },
      'Option otp.limits.countryBreaker.minutes is not known; the known options are codes, verifiedPercent.',
    ],
    [
      { limits: { countryBreaker: { codes: '1', verifiedPercent: 5 } } },
      'Option otp.limits.countryBreaker.codes must be an integer from 1 to 1000000; got "1".',
    ],
    [
      { limits: { sends: [{ count: 1, seconds: 5, minutes: 5 }] } },
      'Option otp.limits.sends[0].minutes is not known; the known options are count, seconds.',
    ],
    [
      { limits: { sends: [{ count: 1, seconds: 5 }, null] } },
      'Option otp.limits.sends[1] must be { count, seconds }; got null.',
    ],
    [{ limits: { sends: null } }, 'Option otp.limits.sends must be a list of { count, seconds }; got null.'],
    [
      { limits: { prefixBreaker: null } },
      'Option otp.limits.prefixBreaker must be false or { count, seconds }; got null.',
    ],
    [
      { limits: { prefixBreaker: { count: 1, seconds: 5, codes: 1 } } },
      'Option otp.limits.prefixBreaker.codes is not known; the known options are count, seconds.',
    ],
    [
      { limits: { spendPerDay: true } },
      'Option otp.limits.spendPerDay must be false or an integer from 1 to 1000000000; got true.',
    ],
    [
      { limits: { countries: [null] } },
      'Option otp.limits.countries must be made of ISO 3166 codes such as BF; null is none.',
    ],
    [{ pepper: undefined }, 'Option otp.pepper is missing: the secret that codes are derived from.'],
    [{ pepper: [] }, 'Option otp.pepper is missing:'],
    [{ pepper: 5 }, 'Option otp.pepper must be a text, or a list of { version, secret }.'],
    [{ pepper: null }, 'Option otp.pepper must be a text, or a list of { version, secret }.'],
    [
      { pepper: { version: '1', secret: PEPPER } },
      'Option otp.pepper must be a text, or a list of { version, secret }.',
    ],
    [{ pepper: [null] }, 'Option otp.pepper[0] must be { version, secret }.'],
    [{ pepper: [{ version: '1', secret: PEPPER }, PEPPER] }, 'Option otp.pepper[1] must be { version, secret }.'],
    [
      { pepper: [{ version: '1', secret: PEPPER, key: 1 }] },
      'Option otp.pepper[0].key is not known; the known options are version, secret.',
    ],
    ...[null, 5, 'X', []].map((services): [object, string] => [
      { services },
      `Option otp.services must be an object: options by the names of services; got ${formatValue(services)}.`,
    ]),
    ...[null, 5, 'x', []].map((shop): [object, string] => [
      { services: { shop } },
      `Option otp.services["shop"] must be an object; got ${formatValue(shop)}.`,
    ]),
    [{ services: { shop: { template: 5 } } }, 'Option otp.services["shop"].template must be a text; got 5.'],
    [{ services: { shop: { template: null } } }, 'Option otp.services["shop"].template must be a text; got null.'],
    [
      { services: { shop: { webOtpHost: 5 } } },
      'Option otp.services["shop"].webOtpHost must be a host name such as example.com,',
    ],
    [
      { services: { shop: { retrieverHash: 12_345_678_901 } } },
      'Option otp.services["shop"].retrieverHash must be 11 characters of base64.',
    ],
    ...[5, null, '', 'far too long a name', '12', 'é'].map((signature): [object, string] => [
      { services: { shop: { signature } } },
      `Option otp.services["shop"].signature can be no signature: 1 to 11 characters of A-Z a-z 0-9 space . _ & - with at least one letter, or 3 to 15 digits; got ${formatValue(signature)}.`,
    ]),
    [{ services: { shop: { sender: 'X' } } }, 'Option otp.services["shop"].sender is not known;'],
  ])('%j', (options, sentence) => {
    expect(otp(options)).toContain(sentence);
    expect(otp(options)).not.toContain(PEPPER);
  });

  test('an undefined option counts as left out', () => {
    const nothing = { length: undefined, limits: { preset: undefined, sends: undefined }, services: undefined };
    const shop = { signature: undefined, template: undefined, webOtpHost: undefined, retrieverHash: undefined };
    expect(resolveOtpSettings(Object({ pepper: PEPPER, ...nothing })).triesPerCode).toBe(3);
    expect(resolveOtpSettings(Object({ pepper: PEPPER, services: { shop } })).triesPerCode).toBe(3);
  });
});

const WINDOW = { from: '08:00', to: '20:00' };

describe('sms', () => {
  const sms = (options: object) => refusal((given: never) => resolveSmsSettings(given), { tariff: TARIFF, ...options });

  test.each<[object, string]>([
    [{ maxSegments: '200' }, 'Option sms.maxSegments must be an integer from 1 to 255; got "200".'],
    [{ maxRecipients: '200' }, 'Option sms.maxRecipients must be an integer from 1 to 1000000; got "200".'],
    [
      { delivery: { leaseMs: '200' } },
      'Option sms.delivery.leaseMs must be an integer from 1 to 2592000000; got "200".',
    ],
    ...[null, 5, 'x', []].map((inboundSignatures): [object, string] => [
      { inboundSignatures },
      'Option sms.inboundSignatures must name signatures by numbers of 2 to 15 digits: { "36111": ["INFOS"] }.',
    ]),
    ...[[5], ['far too long a name'], ['12'], ['']].map((names): [object, string] => [
      { inboundSignatures: { 36111: names } },
      'Option sms.inboundSignatures must name signatures by numbers of 2 to 15 digits: { "36111": ["INFOS"] }.',
    ]),
    [{ windows: { high: WINDOW } }, 'Option sms.windows.high is not known; the known options are bulk, normal.'],
    ...[null, 5, [], { from: '08:00' }, { ...WINDOW, days: [8] }].map((bulk): [object, string] => [
      { windows: { bulk } },
      'Option sms.windows.bulk must be a window such as { from: "08:00", to: "20:00"',
    ]),
    [{ optOutWords: { stop: null } }, 'Option sms.optOutWords.stop must be a list of words.'],
    [{ tariff: { ...TARIFF, base: '1' } }, 'Option sms.tariff.base must be an integer from 0 to 1000000'],
    [{ tariff: { ...TARIFF, countries: null } }, 'Option sms.tariff.countries must be an object'],
    [
      { tariff: { ...TARIFF, countries: { BF: 5 } } },
      'Option sms.tariff.countries.BF is 5, and BF is the home market, whose tariff is base (1): leave it out',
    ],
  ])('%j', (options, sentence) => {
    expect(sms(options)).toContain(sentence);
  });

  test('an undefined option counts as left out', () => {
    const delivery = { leaseMs: undefined, maxAttempts: 3 };
    expect(resolveSmsSettings(Object({ tariff: TARIFF, delivery })).delivery).toStrictEqual({ maxAttempts: 3 });
  });

  test('the home market may be listed at its own tariff', () => {
    const tariff = { ...TARIFF, countries: { BF: 1, SN: 2 } };
    expect(resolveSmsSettings({ tariff }).tariff.unitsFor('22670000000')).toBe(1);
  });
});

test.each<[string, () => string]>([
  [
    'Option limits.bodyBytes must be an integer from 1 to 268435456; got null.',
    () => refusal((given: never) => resolveHttpSettings(given), { limits: { bodyBytes: null } }),
  ],
  [
    'Option limits.requestMs must be an integer from 1 to 3600000; got "30".',
    () => refusal((given: never) => resolveHttpSettings(given), { limits: { requestMs: '30' } }),
  ],
  ['Option path must be', () => refusal((given: never) => resolveHttpSettings(given), { path: null })],
  [
    'Option locale must be "fr", "en" or an object of texts; got a list.',
    () => refusal((given: never) => resolveHttpSettings(given), { locale: [] }),
  ],
  [
    'Option locale must be "fr", "en" or an object of texts; got null.',
    () => refusal((given: never) => resolveHttpSettings(given), { locale: null }),
  ],
  [
    'Option dispatch.pollMs must be an integer from 10 to 60000; got null.',
    () => refusal((given: never) => resolveDispatchSettings(given), { pollMs: null }),
  ],
  [
    'Option dispatch.batchSize must be an integer from 1 to 5000; got "200".',
    () => refusal((given: never) => resolveDispatchSettings(given), { batchSize: '200' }),
  ],
  [
    'Option role must be "all" or "api" or "worker" or "sessions".',
    () => refusal((given: never) => resolveDispatchSettings({}, given), 'workers'),
  ],
  [
    'Option msgapp.tariff.text must be an integer from 0 to 1000000; got "1".',
    () => refusal((given: never) => resolveMsgappSettings(given), { tariff: { text: '1', media: 2 } }),
  ],
  [
    'Option msgapp.pacing.jitter must be a number from 0 to 1; got "1".',
    () =>
      refusal((given: never) => resolveMsgappSettings(given), {
        tariff: { text: 1, media: 2 },
        pacing: { jitter: '1' },
      }),
  ],
  [
    'Option msgapp.credentialsKey must be a text, or a list of texts.',
    () => refusal((given: never) => resolveCredentialKeys(given), 5),
  ],
  [
    'Option msgapp.credentialsKey must be a text, or a list of texts.',
    () => refusal((given: never) => resolveCredentialKeys(given), { secret: 'x' }),
  ],
  [
    'SandboxModule: the options must be an object.',
    () => refusal((given: never) => SandboxModule.forRoot(given), null),
  ],
  ['SandboxModule: the options must be an object.', () => refusal((given: never) => SandboxModule.forRoot(given), 'x')],
  ['SandboxModule: the options must be an object.', () => refusal((given: never) => SandboxModule.forRoot(given), [])],
  [
    'SandboxModule: option paths is not known; the known options are path, hosts, docs, apiKey.',
    () => refusal((given: never) => SandboxModule.forRoot(given), { paths: 'x' }),
  ],
  ['SandboxModule: option path must be', () => refusal((given: never) => SandboxModule.forRoot(given), { path: null })],
  [
    'SandboxModule: option hosts must be',
    () => refusal((given: never) => SandboxModule.forRoot(given), { hosts: 'a' }),
  ],
  [
    'SandboxModule: option hosts must be',
    () => refusal((given: never) => SandboxModule.forRoot(given), { hosts: ['a:80'] }),
  ],
])('%s', (sentence, refused) => {
  expect(refused()).toContain(sentence);
});

test('for a channel, an undefined option counts as left out', () => {
  const undefineds = {
    pacing: { perMinute: undefined },
    delivery: { leaseMs: undefined },
    sessions: { scanMs: undefined },
  };
  const { pacing, delivery, sessions } = resolveMsgappSettings(
    Object({ tariff: { text: 1, media: 2 }, ...undefineds }),
  );
  expect({ pacing, delivery, sessions }).toStrictEqual({ pacing: {}, delivery: {}, sessions: {} });
});
