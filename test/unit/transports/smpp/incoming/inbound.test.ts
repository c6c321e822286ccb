import { describe, expect, test } from '@jest/globals';
import { encodeGsm7 } from '../../../../../src/sms/segmentation.js';
import { decodeGsm7, decodeText } from '../../../../../src/transports/smpp/incoming/decode-text.js';
import { textPart } from '../../../../../src/transports/smpp/incoming/text-part.js';
import { PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../../../src/transports/smpp/pdu/pdu.js';
import { TAG } from '../../../../../src/transports/smpp/pdu/tlv.js';
import { GSM7_ALPHABET } from '../../../../support/transports/gsm7-packing.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

describe('decoding', () => {
  test('follows the GSM-7 table of the standard, septet by septet', () => {
    for (const [character, septets] of GSM7_ALPHABET) expect(decodeGsm7(Uint8Array.from(septets))).toBe(character);
    const all = [...GSM7_ALPHABET.keys()].join('');
    expect(decodeGsm7(encodeGsm7(all))).toBe(all);
  });

  test.each<[string, string]>([
    ['an escape before an unknown extension shows the basic character', '1b41'],
    ['one at the end shows nothing', '411b'],
  ])('%s', (_, octets) => {
    expect(decodeGsm7(hex(octets))).toBe('A');
  });

  test('reads an escape before an escape as a space', () => {
    expect(decodeGsm7(hex('411b1b42'))).toBe('A B');
  });

  test.each<[string | undefined, number, 'gsm' | 'latin1' | 'ascii', string]>([
    ['@STOP', 0, 'gsm', '0053544f50'],
    ['@STOP', 0, 'latin1', '4053544f50'],
    ['é', 0, 'gsm', 'e9'],
    ['STOP', 1, 'gsm', '53544f50'],
    ['arrêt', 3, 'gsm', '617272ea74'],
    ['arrêt 😀', 8, 'gsm', '0061007200 7200ea0074 0020d83dde00'],
    ['STOP', 8, 'gsm', '00530054004f00500000'],
    ['STOP', 0xf1, 'gsm', '53544f50'],
    ['STOP', 0x11, 'gsm', '53544f50'],
    ['я', 0x18, 'gsm', '044f'],
    ['СТОП', 6, 'gsm', 'c1c2bebf'],
    ['הסר', 7, 'gsm', 'e4f1f8'],
    ['중지', 14, 'gsm', 'c1dfc1f6'],
    // Japanese codings: senders write ISO-2022-JP, Shift_JIS or EUC-JP under each of them.
    ['停止', 5, 'gsm', '1b244244643b5f1b2842'],
    ['停止', 10, 'gsm', '1b244244643b5f1b2842'],
    ['停止', 5, 'gsm', '92e28e7e'],
    ['停止', 9, 'gsm', '92e28e7e'],
    ['停止', 13, 'gsm', 'c4e4bbdf'],
    ['丂', 13, 'gsm', '8fb0a1'],
    ['STOP', 5, 'gsm', '53544f50'],
    ['STOP', 6, 'gsm', '53544f5000'],
    ['STOP', 7, 'gsm', '53544f50'],
    ['STOP', 9, 'gsm', '53544f50'],
    ['STOP', 10, 'gsm', '53544f50'],
    ['STOP', 13, 'gsm', '53544f50'],
    ['STOP', 14, 'gsm', '53544f50'],
    ['停止', 9, 'gsm', '1b244244643b5f1b2842'],
    // Cut inside a character, or not in that encoding at all.
    ['STOP ', 14, 'gsm', '53544f5020c1'],
    ['STOP ', 5, 'gsm', '53544f502092'],
    ['\u{fffd} STOP', 14, 'gsm', 'ff2053544f50'],
    // Marked for automatic deletion, and message waiting: the alphabets of 3GPP TS 23.038.
    ['STOP', 0x40, 'latin1', '53544f50'],
    ['я', 0x48, 'gsm', '044f'],
    ['я', 0x58, 'gsm', '044f'],
    ['@STOP', 0xc8, 'gsm', '0053544f50'],
    ['@STOP', 0xd0, 'gsm', '0053544f50'],
    ['я', 0xe8, 'gsm', '044f'],
    [undefined, 0x14, 'gsm', '00ff'],
    [undefined, 0x54, 'gsm', '00ff'],
    [undefined, 11, 'gsm', '00ff'],
    [undefined, 0x80, 'gsm', '00ff'],
    [undefined, 4, 'gsm', '00ff'],
    [undefined, 0xf5, 'gsm', '00ff'],
    [undefined, 2, 'gsm', '00ff'],
  ])('%s: data_coding %i, default %s', (text, dataCoding, alphabet, octets) => {
    expect(decodeText(hex(octets), dataCoding, alphabet)).toBe(text);
  });
});

describe('the position of a part', () => {
  const pdu = (more: Partial<ShortMessage>): ShortMessage => ({
    ...PLAIN_SHORT_MESSAGE,
    source: { ton: 1, npi: 1, address: '1' },
    destination: { ton: 1, npi: 1, address: '2' },
    ...more,
  });
  const withHeader = (octets: string) => textPart(pdu({ esmClass: 0x40, shortMessage: hex(octets) }));
  const tlv = (tag: number, ...octets: number[]) => ({ tag, value: Uint8Array.from(octets) });

  test.each([
    ['8-bit reference', '05 00 03 2a 02 01 41', { reference: '8:42', total: 2, number: 1 }],
    ['16-bit reference', '06 08 04 01 2a 03 03 41', { reference: '16:298', total: 3, number: 3 }],
    ['after another element', '09 24 01 03 00 03 2a 02 02 00 41', { reference: '8:42', total: 2, number: 2 }],
  ])('%s', (_, octets, place) => {
    expect(withHeader(octets).place).toEqual(place);
  });

  test('is in the header, which is removed', () => {
    expect(withHeader('05 00 03 2a 02 01 41 42').octets).toEqual(hex('4142'));
    expect(withHeader('02 70 00 41').octets).toEqual(hex('41'));
  });

  test.each([
    ['a header longer than the message', 'ff 41', 'ff41'],
    ['no octets', '', ''],
    ['an element longer than its header', '05 00 09 2a 02 01 41', '41'],
    ['a part number above the total', '05 00 03 2a 02 03 41', '41'],
    ['part 0', '05 00 03 2a 02 00 41', '41'],
    ['one part of one', '05 00 03 2a 01 01 41', '41'],
    ['an element without length', '01 00 41', '41'],
  ])('is not in %s', (_, octets, text) => {
    expect(withHeader(octets)).toEqual({ octets: hex(text), place: undefined });
  });

  test('is in the sar_ parameters', () => {
    const tlvs = [tlv(TAG.sarMsgRefNum, 1, 2), tlv(TAG.sarTotalSegments, 2), tlv(TAG.sarSegmentSeqnum, 2)];
    expect(textPart(pdu({ shortMessage: hex('41'), tlvs }))).toEqual({
      octets: hex('41'),
      place: { reference: 'sar:258', total: 2, number: 2 },
    });
    expect(textPart(pdu({ tlvs: tlvs.slice(0, 2) })).place).toBeUndefined();
  });

  test('message_payload is the content if short_message is empty', () => {
    expect(textPart(pdu({ tlvs: [tlv(TAG.messagePayload, 0x41)] })).octets).toEqual(hex('41'));
  });
});
