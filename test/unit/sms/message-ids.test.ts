import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type MessageIdFormat, messageIds } from '../../../src/sms/receipts/message-ids.js';

const UUID = '0e999f21-5a4c-4e0e-8d1c-0a1b2c3d4e5f';

describe('ids in receipts', () => {
  test.each<[MessageIdFormat, string, string]>([
    ['hex-then-decimal', '812FC7470000001B', '9308878062554710043'],
    ['hex-then-decimal', '812fc7470000001b', '9308878062554710043'],
    ['hex-then-decimal', '33E95179', '870928761'],
    ['hex-then-decimal', '39f99dd5', '0972660181'],
    ['hex-then-decimal', '0000001b', '27'],
    ['hex-then-decimal', '000000000000001B', '0000000027'],
    ['decimal-then-hex', '870928761', '33E95179'],
    ['decimal-then-hex', '0870928761', '33e95179'],
    ['decimal-then-hex', '9308878062554710043', '812FC7470000001B'],
    ['same', '00B8BE19', 'B8BE19'],
    ['same', 'B8BE19', '00B8BE19'],
    ['same', '00b8be19', 'B8BE19'],
    ['same', UUID, UUID],
    ['same', UUID.toUpperCase(), UUID],
    ['same', UUID, UUID.slice(1)],
    ['same', '0000000123', '123'],
    ['same', '123', '0000000123'],
    ['same', 'msg_id_not_implemented', 'msg_id_not_implemented'],
    ['same', '0123', '123'],
    ['same', '00123', '123'],
    ['same', '0abc7', 'abc7'],
    ['same', '0', '0000'],
    ['hex-then-decimal', 'abc-7', 'abc-7'],
  ])('%s: %s in the answer matches %s in the receipt', (format, answered, received) => {
    expect(messageIds([received], format)).toContain(answered);
  });

  test.each<[MessageIdFormat, string, string]>([
    ['same', '33E95179', '870928761'],
    ['decimal-then-hex', '33E95179', '870928761'],
    ['same', 'abc', 'abd'],
    ['same', '1230', '123'],
    // A carrier that writes both cases in one id distinguishes them.
    ['same', 'abc12', 'AbC12'],
    ['same', 'ABC12', 'AbC12'],
    ['same', 'AbC12', 'abc12'],
    ['same', '00abc12', 'AbC12'],
    ['hex-then-decimal', 'abc12', 'AbC12'],
  ])('%s: %s does not match %s', (format, answered, received) => {
    expect(messageIds([received], format)).not.toContain(answered);
  });

  test('are tried in the order of trust: as given, spelled otherwise, converted', () => {
    const ids = messageIds(['0027'], 'hex-then-decimal');
    expect(ids[0]).toBe('0027');
    expect(ids.indexOf('27')).toBeLessThan(ids.indexOf('1b'));
    expect(messageIds(['tlv', 'text'], 'same').slice(0, 2)).toEqual(['tlv', 'text']);
  });

  test('an empty id has no forms', () => {
    expect(messageIds(['', ' '], 'same')).toEqual([]);
    expect(messageIds([], 'hex-then-decimal')).toEqual([]);
  });

  test('any 64 bits are found in every spelling, and the list stays short', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (id) => {
        const hexes = [id.toString(16), id.toString(16).toUpperCase(), id.toString(16).padStart(16, '0')];
        const decimals = [id.toString(), id.toString().padStart(10, '0'), id.toString().padStart(20, '0')];
        for (const hex of hexes) {
          for (const decimal of decimals) {
            expect(messageIds([decimal], 'hex-then-decimal')).toContain(hex);
            expect(messageIds([hex], 'decimal-then-hex')).toContain(decimal);
          }
        }
        for (const written of [...hexes, ...decimals, `0${id.toString(16)}`, `0${id}`]) {
          for (const format of ['same', 'hex-then-decimal', 'decimal-then-hex'] as const) {
            // As many as are looked up for one receipt.
            expect(messageIds([written], format).length).toBeLessThanOrEqual(16);
          }
        }
      }),
    );
  });
});
