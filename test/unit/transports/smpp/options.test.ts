import { describe, expect, test } from '@jest/globals';
import { UuidGenerator } from '../../../../src/common/ids.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { ReceiptStates } from '../../../../src/transports/smpp/incoming/receipt-states.js';
import { resolveSmppSettings } from '../../../../src/transports/smpp/resolve-settings.js';
import type { SmppOptions } from '../../../../src/transports/smpp/smpp-options.js';
import { SmppSmsTransport } from '../../../../src/transports/smpp/smpp-sms-transport.js';

const LINK = { host: 'smsc.test', systemId: 'client', password: 'secret' };

/** Options as a host without types would write them. */
const untyped = (options: unknown): SmppOptions => options as SmppOptions;
const withLink = (link: object): SmppOptions => untyped({ links: [{ ...LINK, ...link }] });

describe('options of SMPP', () => {
  test('have defaults for everything but host and account', () => {
    const settings = resolveSmppSettings({ links: [LINK] });
    expect(settings).toEqual({
      name: 'smpp',
      resendUnknown: false,
      links: [
        {
          name: 'smpp',
          route: 'smpp',
          bind: {
            ...LINK,
            port: 2775,
            bindAs: 'transceiver',
            systemType: '',
            addressRange: { ton: 0, npi: 0, address: '' },
            window: 10,
            bindTimeoutMs: 10_000,
            responseTimeoutMs: 10_000,
            idleMs: 30_000,
            maxMisses: 2,
            maxUnanswered: 100,
          },
          reconnect: { firstMs: 1000, maxMs: 60_000 },
          rate: { window: 10, partsPerSecond: undefined, throttlePauseMs: 100 },
          statuses: new Map(),
          format: {
            longMessages: 'udh8',
            defaultAlphabet: 'gsm',
            dataCoding: 0,
            serviceType: '',
            validity: true,
            addresses: {
              alphanumeric: { ton: 5, npi: 0 },
              international: { ton: 1, npi: 1 },
              shortCode: { ton: 3, npi: 0 },
              destination: { ton: 1, npi: 1 },
              national: { ton: 2, npi: 1 },
              nationalAfter: undefined,
              shortCodes: new Set(),
            },
          },
          incoming: {
            route: 'smpp',
            messageIds: 'same',
            defaultAlphabet: 'gsm',
            receiptOffsetMinutes: undefined,
            unmarkedReceipts: false,
            states: new ReceiptStates(),
            wholeReceipts: false,
          },
        },
      ],
    });
  });

  test('name links one by one, and let them share the route of the transport', () => {
    const { links } = resolveSmppSettings({
      name: 'acme',
      links: [LINK, LINK, { ...LINK, name: 'far', route: 'other' }],
    });
    expect(links.map(({ name, route }) => `${name} ${route}`)).toEqual(['acme acme', 'acme-2 acme', 'far other']);
  });

  test('use the port of TLS with TLS, verified', () => {
    const [link] = resolveSmppSettings(withLink({ tls: true })).links;
    expect(link?.bind).toMatchObject({ port: 3550, tls: {} });
  });

  test.each<[string, SmppOptions]>([
    ['Option smpp must be an object.', untyped(undefined)],
    ['Option smpp.link is not known; the known options are name, links, resendUnknown.', untyped({ link: LINK })],
    ['Option smpp.links must be a list of at least one link.', untyped({ links: [] })],
    ['Option smpp.links must be a list of at least one link.', untyped({ links: LINK })],
    ['Option smpp.name must be 1 to 32 characters of a-z 0-9 _ -.', untyped({ name: 'A B', links: [LINK] })],
    ['Option smpp.resendUnknown must be true or false.', untyped({ resendUnknown: 1, links: [LINK] })],
    [
      'Option smpp.links has two links named a.',
      untyped({
        links: [
          { ...LINK, name: 'a' },
          { ...LINK, name: 'a' },
        ],
      }),
    ],
    ['Option smpp.links has only receivers, so no SMS could be sent.', withLink({ bindAs: 'receiver' })],
    ['Option smpp.links[0] must be an object.', untyped({ links: ['smsc.test'] })],
    ['Option smpp.links[0].host must be a host name or an address.', untyped({ links: [{ ...LINK, host: '' }] })],
    ['Option smpp.links[0].port must be an integer from 1 to 65535; got 0.', withLink({ port: 0 })],
    ['Option smpp.links[0].port must be an integer from 1 to 65535; got a string.', withLink({ port: '2775' })],
    ['Option smpp.links[0].systemId must be 1 to 15 visible ASCII characters', withLink({ systemId: 'é' })],
    [
      'Option smpp.links[0].systemId must be 1 to 15 visible ASCII characters, or 64 with longSystemId: true.',
      withLink({ systemId: 'x'.repeat(16) }),
    ],
    [
      'Option smpp.links[0].systemId must be 1 to 64 visible ASCII characters.',
      withLink({ longSystemId: true, systemId: 'x'.repeat(65) }),
    ],
    ['Option smpp.links[0].systemId must be 1 to 64', withLink({ longSystemId: true, systemId: '' })],
    ['Option smpp.links[0].longSystemId must be true or false.', withLink({ longSystemId: 64 })],
    ['Option smpp.links[0].validity must be true or false.', withLink({ validity: 0 })],
    ['Option smpp.links[0].destinations must be one of international, national', withLink({ destinations: 'local' })],
    ['Option smpp.links[0].destinations requires home.', withLink({ destinations: 'national' })],
    [
      'Option smpp.links[0].password must be at most 8 visible ASCII characters, or 64 with',
      withLink({ password: 'secret-789' }),
    ],
    ['Option smpp.links[0].longPassword must be true or false.', withLink({ longPassword: 'yes' })],
    [
      'Option smpp.links[0].password must be at most 64 visible ASCII characters.',
      withLink({ longPassword: true, password: 'x'.repeat(65) }),
    ],
    ['Option smpp.links[0].unmarkedReceipts must be true or false.', withLink({ unmarkedReceipts: 1 })],
    ['Option smpp.links[0].systemType must be at most 12 ASCII characters.', withLink({ systemType: 'x'.repeat(13) })],
    ['Option smpp.links[0].serviceType must be at most 5 ASCII characters.', withLink({ serviceType: 'xxxxxx' })],
    ['Option smpp.links[0].tls must be true, false or an object.', withLink({ tls: 'yes' })],
    [
      'Option smpp.links[0].tls.verify is not known; the known options are servername',
      withLink({ tls: { verify: false } }),
    ],
    [
      'Option smpp.links[0].tls.rejectUnauthorized must be true or false.',
      withLink({ tls: { rejectUnauthorized: 0 } }),
    ],
    ['Option smpp.links[0].tls.cert and key go together.', withLink({ tls: { cert: 'x' } })],
    ['Option smpp.links[0].bindAs must be one of transceiver, transmitter, receiver', withLink({ bindAs: 'both' })],
    ['Option smpp.links[0].window must be an integer from 1 to 1000; got 0.', withLink({ window: 0 })],
    [
      'Option smpp.links[0].partsPerSecond must be a number from 0.1 to 100000; got 0.',
      withLink({ partsPerSecond: 0 }),
    ],
    ['Option smpp.links[0].partsPerSecond must be a number', withLink({ partsPerSecond: Number.NaN })],
    [
      'Option smpp.links[0].reconnectMaxMs must not be under reconnectMs.',
      withLink({ reconnectMs: 5, reconnectMaxMs: 4 }),
    ],
    ['Option smpp.links[0].throttlePauseMs must be an integer', withLink({ throttlePauseMs: 0.5 })],
    ['Option smpp.links[0].longMessages must be one of udh8, udh16, sar, payload', withLink({ longMessages: 'udh' })],
    ['Option smpp.links[0].defaultAlphabet must be one of gsm, latin1, ascii', withLink({ defaultAlphabet: 'utf8' })],
    ['Option smpp.links[0].dataCoding must be an integer from 0 to 255; got 256.', withLink({ dataCoding: 256 })],
    ['Option smpp.links[0].messageIds must be one of same, hex-then-decimal', withLink({ messageIds: 'hex' })],
    ['Option smpp.links[0].receiptOffsetMinutes must be an integer', withLink({ receiptOffsetMinutes: 1000 })],
    ['Option smpp.links[0].addresses must be an object.', withLink({ addresses: 5 })],
    ['Option smpp.links[0].addresses.ton is not known', withLink({ addresses: { ton: 5 } })],
    [
      'Option smpp.links[0].addresses.shortCode.ton must be an integer',
      withLink({ addresses: { shortCode: { ton: -1 } } }),
    ],
    ['Option smpp.links[0].addresses.shortCodes must be a list', withLink({ addresses: { shortCodes: ['INFOS'] } })],
    ['Option smpp.links[0].receiptStates must be an object.', withLink({ receiptStates: ['PARKED'] })],
    [
      'Option smpp.links[0].receiptStates.PARKED must be one of sent, delivered, undelivered, failed, unknown',
      withLink({ receiptStates: { PARKED: 'final' } }),
    ],
    ['Option smpp.links[0].receiptStates must have states of 1 to 40', withLink({ receiptStates: { '': 'sent' } })],
    ['Option smpp.links[0].receipts must be one of per-part, per-message', withLink({ receipts: 'one' })],
    ['Option smpp.links[0].statuses must be an object.', withLink({ statuses: 'later' })],
    [
      'Option smpp.links[0].statuses must have numbers from 1 to 0xFFFFFFFF as its keys.',
      withLink({ statuses: { ESME_RSUBMITFAIL: 'later' } }),
    ],
    ['Option smpp.links[0].statuses must have numbers', withLink({ statuses: { 0: 'later' } })],
    ['Option smpp.links[0].statuses must have numbers', withLink({ statuses: { 4294967296: 'later' } })],
    [
      'Option smpp.links[0].statuses.0x400 must be one of message, bind, route, later, throttled',
      withLink({ statuses: { 1024: 'permanent' } }),
    ],
    ['Option smpp.links[0].sytemId is not known; the known options are name, route, host', withLink({ sytemId: 'x' })],
  ])('%s', (sentence, options) => {
    expect(() => resolveSmppSettings(options)).toThrow(sentence);
    expect(() => SmppSmsTransport.forRoot(options)).toThrow(sentence);
    expect(() => new SmppSmsTransport(options, new FakeClock(), new UuidGenerator())).toThrow(sentence);
  });

  test('allow a password of 9 to 64 characters only if the link says so', () => {
    const ofLength = (length: number) => ({ ...LINK, password: 'x'.repeat(length), longPassword: true });
    const { links } = resolveSmppSettings({ links: [9, 64].map(ofLength) });
    expect(links.map(({ bind }) => bind.password.length)).toEqual([9, 64]);
  });

  test('allow a system id of 16 to 64 characters only if the link says so', () => {
    const ofLength = (length: number) => ({ ...LINK, systemId: 'x'.repeat(length), longSystemId: true });
    const { links } = resolveSmppSettings({ links: [1, 16, 64].map(ofLength) });
    expect(links.map(({ bind }) => bind.systemId.length)).toEqual([1, 16, 64]);
  });

  test('a wrong password is not repeated in the sentence', () => {
    for (const longPassword of [false, true]) {
      const link = withLink({ password: 'hunter2'.repeat(10), longPassword });
      expect(() => resolveSmppSettings(link)).toThrow(/^(?!.*hunter2).*password must be/);
    }
  });

  test('the lease covers the work, and then a submit that the slowest link leaves unanswered until it is dead', () => {
    const slow = { links: [LINK, { ...LINK, responseTimeoutMs: 600_000 }] };
    const { timing } = new SmppSmsTransport(slow, new FakeClock(), new UuidGenerator());
    expect(timing.leaseMs).toBeGreaterThanOrEqual(240_000 + 3 * 600_000);
  });

  test('say what happens to a submit whose outcome is unknown', () => {
    const transport = (resendUnknown: boolean) =>
      new SmppSmsTransport({ links: [LINK], resendUnknown }, new FakeClock(), new UuidGenerator());
    expect(transport(false)).toMatchObject({ name: 'smpp', repeat: 'at-most-once', timing: { leaseMs: 300_000 } });
    expect(transport(true).repeat).toBe('at-least-once');
  });
});
