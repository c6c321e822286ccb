import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { measure } from '../../../../../src/sms/segmentation.js';
import type { OutgoingSms } from '../../../../../src/sms/sms-transport.js';
import { messageParts, validityPeriod } from '../../../../../src/transports/smpp/parts/message-parts.js';
import { PartReferences } from '../../../../../src/transports/smpp/parts/part-references.js';
import type { ShortMessage } from '../../../../../src/transports/smpp/pdu/pdu.js';
import { resolveSmppSettings } from '../../../../../src/transports/smpp/resolve-settings.js';
import type { SmppLinkOptions } from '../../../../../src/transports/smpp/smpp-options.js';
import { packGsm7, readGsm7, USER_DATA_OCTETS } from '../../../../support/transports/gsm7-packing.js';

const NOW = Date.UTC(2026, 10, 21, 10);
const SMS: OutgoingSms = { smsId: 's', position: 0, signature: 'INFOS', number: '22670000000', text: '', attempt: 1 };

function parts(
  text: string,
  link: Partial<SmppLinkOptions> = {},
  sms: Partial<OutgoingSms> = {},
): readonly ShortMessage[] {
  const [settings] = resolveSmppSettings({ links: [{ host: 'h', systemId: 's', password: 'p', ...link }] }).links;
  if (!settings) throw new Error('no link');
  return messageParts({ ...SMS, text, ...sms }, settings.format, () => 0x1234, NOW);
}

const octets = (text: string) => Buffer.from(text, 'latin1');
const utf16 = (bytes: Uint8Array) => new TextDecoder('utf-16be', { ignoreBOM: true, fatal: true }).decode(bytes);
const content = ({ esmClass, shortMessage }: ShortMessage) =>
  esmClass & 0x40 ? shortMessage.subarray(1 + (shortMessage[0] ?? 0)) : shortMessage;

/** The text that a phone shows: the octets by the data_coding, without headers. */
function shown(submits: readonly ShortMessage[]): string {
  return submits.map((pdu) => (pdu.dataCoding === 8 ? utf16(content(pdu)) : readGsm7(content(pdu)))).join('');
}

describe('one part', () => {
  test('in GSM-7 has one septet an octet with data_coding 0, and requests a receipt', () => {
    expect(parts('fête@€'.replace('ê', 'é'))).toEqual([
      {
        serviceType: '',
        source: { ton: 5, npi: 0, address: 'INFOS' },
        destination: { ton: 1, npi: 1, address: '22670000000' },
        esmClass: 0,
        protocolId: 0,
        priorityFlag: 0,
        scheduleDeliveryTime: '',
        validityPeriod: '',
        registeredDelivery: 1,
        replaceIfPresentFlag: 0,
        dataCoding: 0,
        smDefaultMsgId: 0,
        shortMessage: Uint8Array.of(0x66, 0x05, 0x74, 0x65, 0x00, 0x1b, 0x65),
        tlvs: [],
      },
    ]);
  });

  test('in any other text is UTF-16BE with data_coding 8', () => {
    const [part] = parts('fête 😀');
    expect(part?.dataCoding).toBe(8);
    expect(Buffer.from(part?.shortMessage ?? []).toString('hex')).toBe('006600ea007400650020d83dde00');
  });

  test.each([
    ['22670123456', { ton: 1, npi: 1 }],
    ['3611111', { ton: 1, npi: 1 }],
    // A number has at least 7 digits.
    ['361111', { ton: 3, npi: 0 }],
    ['36111', { ton: 3, npi: 0 }],
    ['889', { ton: 3, npi: 0 }],
    ['7', { ton: 3, npi: 0 }],
    ['30012345', { ton: 3, npi: 0 }],
    ['A888', { ton: 5, npi: 0 }],
    ['3 61', { ton: 5, npi: 0 }],
  ])('has the sender %s', (signature, numbering) => {
    const [part] = parts('x', { addresses: { shortCodes: ['30012345'] } }, { signature });
    expect(part?.source).toEqual({ ...numbering, address: signature });
  });

  test.each<[string, Partial<SmppLinkOptions>, object]>([
    ['22670000001', { home: 'BF', destinations: 'national' }, { ton: 2, npi: 1, address: '70000001' }],
    ['33612345678', { home: 'FR', destinations: 'national' }, { ton: 2, npi: 1, address: '612345678' }],
    ['18765550123', { home: 'US', destinations: 'national' }, { ton: 2, npi: 1, address: '8765550123' }],
    ['33612345678', { home: 'BF', destinations: 'national' }, { ton: 1, npi: 1, address: '33612345678' }],
    ['22670000001', { home: 'BF' }, { ton: 1, npi: 1, address: '22670000001' }],
    [
      '22670000001',
      { home: 'BF', destinations: 'national', addresses: { national: { ton: 0, npi: 0 } } },
      { ton: 0, npi: 0, address: '70000001' },
    ],
  ])('has the recipient %s on a link with %j', (number, link, destination) => {
    expect(parts('x', link, { number })[0]?.destination).toEqual(destination);
  });

  test('has no validity_period for a carrier that refuses it', () => {
    const code = { expiresAt: NOW + 300_000 };
    expect(parts('x', {}, code)[0]?.validityPeriod).toBe('000000000500000R');
    expect(parts('x', { validity: false }, code)[0]?.validityPeriod).toBe('');
  });

  test('has the link’s address types and service type', () => {
    const addresses = { alphanumeric: { ton: 5, npi: 9 }, destination: { ton: 2, npi: 8 } };
    const [part] = parts('x', { addresses, serviceType: 'CMT' });
    expect(part).toMatchObject({ serviceType: 'CMT', source: { ton: 5, npi: 9 }, destination: { ton: 2, npi: 8 } });
  });

  test.each<[string, number | undefined]>([
    ['', undefined],
    ['000000000500000R', 300_000],
    ['000000000130000R', 90_999],
    ['000000000100000R', 5000],
    ['000000000100000R', -5000],
    ['000001020304000R', 93_784_000],
    ['000030000000000R', 365 * 86_400_000],
  ])('has the validity period %j', (period, ms) => {
    expect(validityPeriod(ms === undefined ? undefined : NOW + ms, NOW)).toBe(period);
    expect(parts('x', {}, ms === undefined ? {} : { expiresAt: NOW + ms })[0]?.validityPeriod).toBe(period);
  });
});

describe('a default alphabet that is not GSM-7', () => {
  test('takes é and [ unchanged in Latin-1, and in ASCII the characters that it has', () => {
    expect(parts('é[]@_', { defaultAlphabet: 'latin1', dataCoding: 3 })[0]).toMatchObject({
      dataCoding: 3,
      shortMessage: octets('é[]@_'),
    });
    expect(parts('[]@_', { defaultAlphabet: 'ascii' })[0]).toMatchObject({
      dataCoding: 0,
      shortMessage: octets('[]@_'),
    });
  });

  test.each<['latin1' | 'ascii', string]>([
    ['latin1', '5 €'],
    ['latin1', 'ΔΩ'],
    ['ascii', 'é'],
  ])('of %s sends %s as UCS-2', (defaultAlphabet, text) => {
    const submits = parts(text, { defaultAlphabet, dataCoding: 1 });
    expect(submits).toMatchObject([{ dataCoding: 8 }]);
    expect(shown(submits)).toBe(text);
  });

  test('cuts a text of one GSM-7 segment as UCS-2 if it must be sent so', () => {
    const text = `${'a'.repeat(99)}€`;
    const submits = parts(text, { defaultAlphabet: 'latin1' });
    expect(submits).toHaveLength(2);
    expect(shown(submits)).toBe(text);
  });

  test('cuts parts by their size on the air, not by octets', () => {
    const text = '['.repeat(100);
    const submits = parts(text, { defaultAlphabet: 'ascii' });
    expect(submits.map((pdu) => octets('[').equals(content(pdu).subarray(0, 1)))).toEqual([true, true]);
    expect(submits.map((pdu) => content(pdu).length)).toEqual([76, 24]);
  });
});

describe('several parts', () => {
  const long = 'a'.repeat(400);

  test('have an 8-bit reference and 153 septets each', () => {
    const submits = parts(long);
    expect(submits.map(({ esmClass }) => esmClass)).toEqual([0x40, 0x40, 0x40]);
    expect(submits.map(({ shortMessage }) => Buffer.from(shortMessage.subarray(0, 6)).toString('hex'))).toEqual([
      '050003340301',
      '050003340302',
      '050003340303',
    ]);
    expect(submits.map((pdu) => content(pdu).length)).toEqual([153, 153, 94]);
    expect(submits.every(({ registeredDelivery }) => registeredDelivery === 1)).toBe(true);
    expect(shown(submits)).toBe(long);
  });

  test('have a 16-bit reference and 152 septets each', () => {
    const submits = parts(long, { longMessages: 'udh16' });
    expect(submits.map(({ shortMessage }) => Buffer.from(shortMessage.subarray(0, 7)).toString('hex'))).toEqual([
      '06080412340301',
      '06080412340302',
      '06080412340303',
    ]);
    expect(submits.map((pdu) => content(pdu).length)).toEqual([152, 152, 96]);
    expect(shown(submits)).toBe(long);
  });

  test.each([
    ['GSM-7', 'a'.repeat(306), 2],
    ['UCS-2', 'я'.repeat(134), 2],
  ])('keep the 8-bit reference if %s would need one more part with a 16-bit one', (_, text, paid) => {
    const submits = parts(text, { longMessages: 'udh16' });
    expect(submits).toHaveLength(paid);
    expect(submits[0]?.shortMessage.subarray(0, 3)).toEqual(Uint8Array.of(5, 0, 3));
    expect(shown(submits)).toBe(text);
  });

  test('have sar_ parameters and only text in each', () => {
    const submits = parts(long, { longMessages: 'sar' });
    expect(submits.map(({ esmClass }) => esmClass)).toEqual([0, 0, 0]);
    expect(submits[1]?.tlvs).toEqual([
      { tag: 0x020c, value: Uint8Array.of(0x12, 0x34) },
      { tag: 0x020e, value: Uint8Array.of(3) },
      { tag: 0x020f, value: Uint8Array.of(2) },
    ]);
    expect(submits.map(({ shortMessage }) => shortMessage.length)).toEqual([153, 153, 94]);
  });

  test('become one message_payload, never beside a short_message', () => {
    expect(parts(long, { longMessages: 'payload' })).toMatchObject([
      { esmClass: 0, shortMessage: new Uint8Array(0), tlvs: [{ tag: 0x0424, value: octets(long) }] },
    ]);
    expect(parts('short', { longMessages: 'payload' })).toMatchObject([{ shortMessage: octets('short'), tlvs: [] }]);
  });

  test('are 255 at most', () => {
    expect(parts('a'.repeat(255 * 153))).toHaveLength(255);
    expect(() => parts('a'.repeat(255 * 153 + 1))).toThrow(RangeError);
  });

  test('are never more than was paid for, fit the air, and join to the text, whatever it is', () => {
    const characters = fc.constantFrom('a', '€', 'é', '[', 'я', '😀');
    const texts = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'é', '€'), minLength: 1, maxLength: 700 }),
      fc.string({ unit: characters, minLength: 1, maxLength: 300 }),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom('udh8' as const, 'udh16' as const), (text, longMessages) => {
        const submits = parts(text, { longMessages });
        expect(submits).toHaveLength(measure(text).segments);
        expect(shown(submits)).toBe(text);
        for (const pdu of submits) {
          const header = pdu.shortMessage.subarray(0, pdu.shortMessage.length - content(pdu).length);
          const onAir = pdu.dataCoding === 8 ? pdu.shortMessage : packGsm7(content(pdu), header).octets;
          expect(onAir.length).toBeLessThanOrEqual(USER_DATA_OCTETS);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('references', () => {
  test('start at random for each pair, count up and wrap', () => {
    let asked = 0;
    const references = new PartReferences(() => [0.5, 0.999_99][asked++ % 2] ?? 0);
    expect(references.next('INFOS', '1')).toBe(0x8001);
    expect(references.next('INFOS', '2')).toBe(0);
    expect(references.next('INFOS', '1')).toBe(0x8002);
    expect(references.next('INFOS', '2')).toBe(1);
    expect(asked).toBe(2);
  });

  test('are all different in 8 bits for 256 texts in a row to one phone', () => {
    const references = new PartReferences(() => 0.7);
    const low = Array.from({ length: 256 }, () => references.next('INFOS', '1') & 0xff);
    expect(new Set(low).size).toBe(256);
  });
});
