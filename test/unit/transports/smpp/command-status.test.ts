import { describe, expect, test } from '@jest/globals';
import { provesRefusal, type SmppStatusClass, statusRule } from '../../../../src/transports/smpp/command-status.js';

/** Every status of SMPP 3.4 section 5.1.3 and SMPP 5.0 section 4.7.6. All others are unclear. */
const CLASSES: Readonly<Record<SmppStatusClass, readonly number[]>> = {
  bind: [0x03, 0x04, 0x05, 0x0d, 0x0e, 0x0f, 0x53],
  route: [0x06, 0x07, 0x15, 0x42, 0x54, 0x63, 0x100, 0x101, 0x102, 0x103],
  throttled: [0x58],
  later: [0x08, 0x14, 0x64],
  message: [
    // Lengths, addresses.
    0x01, 0x02, 0x0a, 0x0b,
    // Lists of recipients.
    0x33, 0x34, 0x40, 0x44, 0x55,
    // esm_class, types and plans of numbers.
    0x43, 0x48, 0x49, 0x50, 0x51,
    // Times.
    0x61, 0x62,
    // The receiving application.
    0x65, 0x66,
    // Optional parameters.
    0xc0, 0xc1, 0xc2, 0xc3, 0xc4,
    // SMPP 5.0: data_coding and parts of addresses.
    0x104, 0x105, 0x106,
  ],
};
const EXPECTED = new Map(
  Object.entries(CLASSES).flatMap(([about, statuses]) => statuses.map((status) => [status, about] as const)),
);
const STATUSES = [...Array(0x600).keys()].slice(1).concat(0xfffe, 0x7fffffff, 0xffffffff);

describe('every command_status', () => {
  test('from 1 to 0x5ff and beyond belongs to one class, with a reason', () => {
    const wrong = STATUSES.filter((status) => {
      const { about, unclear, reason } = statusRule(status);
      const expected = EXPECTED.get(status);
      return about !== (expected ?? 'later') || unclear !== (expected ? undefined : true) || reason === '';
    });
    expect(wrong.map((status) => status.toString(16))).toEqual([]);
  });

  test('has the class that the host sets, and is then not unclear', () => {
    const own = new Map<number, SmppStatusClass>([
      [0x400, 'later'],
      [0x45, 'route'],
      [0x04, 'message'],
      [0x45b, 'throttled'],
    ]);
    expect([0x400, 0x45, 0x04, 0x45b, 0x401].map((status) => statusRule(status, own))).toMatchObject([
      { about: 'later' },
      { about: 'route' },
      { about: 'message' },
      { about: 'throttled' },
      { about: 'later', unclear: true },
    ]);
    expect(statusRule(0x400, own)).not.toHaveProperty('unclear');
  });
});

describe('a late refusal', () => {
  test.each([0x04, 0x0b, 0x14, 0x15, 0x58, 0x64])('%i proves that nothing was sent', (status) => {
    expect(provesRefusal(status)).toBe(true);
  });

  test.each([0x08, 0x45, 0xfe, 0xff, 0x400, 0xffffffff])('%i proves nothing', (status) => {
    expect(provesRefusal(status)).toBe(false);
  });
});
