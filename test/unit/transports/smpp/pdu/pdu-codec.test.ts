import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodePdu } from '../../../../../src/transports/smpp/pdu/decode-pdu.js';
import { PduWriter, writePdu } from '../../../../../src/transports/smpp/pdu/encode-pdu.js';
import { MalformedPdu } from '../../../../../src/transports/smpp/pdu/frame-reader.js';
import { type Pdu, PLAIN_SHORT_MESSAGE, type ShortMessage } from '../../../../../src/transports/smpp/pdu/pdu.js';
import { TAG, tlvNumber, tlvString, tlvValue } from '../../../../../src/transports/smpp/pdu/tlv.js';
import { arbitraryPdu } from '../../../../support/transports/smsc/arbitrary-pdu.js';
import { encodePdu } from '../../../../support/transports/smsc/encode-pdu.js';

const MESSAGE: ShortMessage = {
  ...PLAIN_SHORT_MESSAGE,
  source: { ton: 5, npi: 0, address: 'Acme' },
  destination: { ton: 1, npi: 1, address: '33612345678' },
  registeredDelivery: 1,
  shortMessage: Buffer.from('Hello'),
};

/** The body of a deliver_sm with empty texts and zeros, up to sm_length. */
const UP_TO_LENGTH = `00${'010100'.repeat(2)}${'00'.repeat(9)}`;

describe('the octets of the specification', () => {
  // SMPP 3.4 v1.2, section 3.2.1 prints this bind_transmitter octet by octet.
  test('the bind_transmitter of section 3.2.1', () => {
    const printed = Buffer.from(
      '0000002F000000020000000000000001534D50503354455354007365637265743038005355424D4954310000010100',
      'hex',
    );
    const pdu: Pdu = {
      command: 'bind_transmitter',
      status: 0,
      sequence: 1,
      systemId: 'SMPP3TEST',
      password: 'secret08',
      systemType: 'SUBMIT1',
      interfaceVersion: 0,
      addressRange: { ton: 1, npi: 1, address: '' },
    };
    expect(encodePdu(pdu).toString('hex')).toBe(printed.toString('hex'));
    expect(decodePdu(printed)).toEqual(pdu);
  });

  test('a submit_sm, field by field', () => {
    const octets = encodePdu({ command: 'submit_sm', status: 0, sequence: 0x7fffffff, ...MESSAGE });
    expect(octets.toString('hex')).toBe(
      [
        '00000035 00000004 00000000 7fffffff',
        '00', // service_type
        '05 00 41636d6500', // source
        '01 01 333336313233343536373800', // destination
        '00 00 00', // esm_class, protocol_id, priority_flag
        '00 00', // schedule_delivery_time, validity_period
        '01 00 00 00', // registered_delivery, replace_if_present_flag, data_coding, sm_default_msg_id
        '05 48656c6c6f',
      ]
        .join('')
        .replaceAll(' ', ''),
    );
  });

  test('a data_sm, field by field', () => {
    const body = [
      '00', // service_type
      '01 01 333336313233343536373800', // source
      '05 00 41636d6500', // destination
      '04 00 08', // esm_class, registered_delivery, data_coding
      '001e 0003 613100', // receipted_message_id
    ].join('');
    const octets = Buffer.from(`0000003000000103 00000000 00000009${body}`.replaceAll(' ', ''), 'hex');
    const pdu: Pdu = {
      ...PLAIN_SHORT_MESSAGE,
      command: 'data_sm',
      status: 0,
      sequence: 9,
      source: MESSAGE.destination,
      destination: MESSAGE.source,
      esmClass: 0x04,
      dataCoding: 8,
      tlvs: [{ tag: TAG.receiptedMessageId, value: new Uint8Array(Buffer.from('a1\0')) }],
    };
    expect(decodePdu(octets)).toEqual(pdu);
    expect(encodePdu(pdu).toString('hex')).toBe(octets.toString('hex'));
  });

  test('an optional parameter', () => {
    const octets = encodePdu({
      command: 'submit_sm_resp',
      status: 0,
      sequence: 2,
      messageId: 'a1',
      tlvs: [{ tag: TAG.messageState, value: Uint8Array.of(2) }],
    });
    expect(octets.subarray(16).toString('hex')).toBe('6131000427000102');
  });
});

test('a PDU that is written is read back unchanged', () => {
  fc.assert(
    fc.property(arbitraryPdu, (pdu) => {
      expect(decodePdu(encodePdu(pdu))).toEqual(pdu);
    }),
    { numRuns: 500 },
  );
});

test('a decoded PDU shares no memory with its frame', () => {
  const frame = encodePdu({ command: 'deliver_sm', status: 0, sequence: 1, ...MESSAGE });
  const pdu = decodePdu(frame);
  frame.fill(0xff);
  expect(pdu).toMatchObject({ shortMessage: new Uint8Array(Buffer.from('Hello')) });
});

describe('bodies with false contents', () => {
  const read = (frame: Buffer) => {
    try {
      return decodePdu(frame);
    } catch (error) {
      if (error instanceof MalformedPdu) return error;
      throw error;
    }
  };

  test('any octets after a header are read or refused, with no other effect', () => {
    const ids = [
      1, 2, 4, 5, 6, 9, 0x15, 0x80000000, 0x80000001, 0x80000004, 0x80000005, 0x80000009, 0x103, 0x80000103, 0x111,
    ];
    fc.assert(
      fc.property(fc.constantFrom(...ids), fc.uint8Array({ maxLength: 400 }), (id, body) => {
        const frame = Buffer.alloc(16 + body.length);
        frame.writeUInt32BE(frame.length, 0);
        frame.writeUInt32BE(id, 4);
        frame.writeUInt32BE(7, 12);
        frame.set(body, 16);
        const seen = read(frame);
        if (seen instanceof MalformedPdu) expect(seen.header).toEqual({ commandId: id, status: 0, sequence: 7 });
        else expect(seen.sequence).toBe(7);
      }),
      { numRuns: 1000 },
    );
  });

  test('no field is read beyond its PDU: the memory after the frame changes nothing', () => {
    fc.assert(
      fc.property(arbitraryPdu, fc.nat(), fc.uint8Array({ minLength: 80, maxLength: 80 }), (pdu, cut, behind) => {
        const whole = encodePdu(pdu);
        const length = 16 + (cut % (whole.length - 15));
        const alone = Buffer.from(whole.subarray(0, length));
        const among = Buffer.concat([alone, behind]).subarray(0, length);
        expect(read(among)).toEqual(read(alone));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['a text without its NUL', '0001013336', 0x02],
    ['nothing at all', '', 0x02],
    ['sm_length beyond the end', `${UP_TO_LENGTH}ff4869`, 0x02],
    ['half an optional parameter', `${UP_TO_LENGTH}000427`, 0xc0],
    ['an optional parameter that is too long', `${UP_TO_LENGTH}000427000202`, 0xc0],
  ])('deliver_sm with %s is refused', (_, body, answer) => {
    const octets = Buffer.from(body, 'hex');
    const frame = Buffer.concat([Buffer.from('00000000000000050000000000000009', 'hex'), octets]);
    frame.writeUInt32BE(frame.length, 0);
    const seen = read(frame);
    expect(seen).toBeInstanceOf(MalformedPdu);
    expect(seen).toMatchObject({ answer, header: { commandId: 5, sequence: 9 } });
  });

  test('data_sm that ends too early is refused', () => {
    const frame = Buffer.from('00000015000001030000000000000009000101333600', 'hex').subarray(0, 21);
    expect(read(frame)).toMatchObject({ answer: 0x02, header: { commandId: 0x103, sequence: 9 } });
  });

  test.each([
    ['without its NUL', '613762', 'a7b'],
    ['with two NULs', '6137620000', 'a7b'],
    ['with a line end after its NUL', '613762000d0a', 'a7b'],
    ['with half an optional parameter after it', '613762000424', 'a7b'],
    ['of a NUL only', '00', ''],
  ])('the id of an answer with %s is read', (_, body, messageId) => {
    const frame = Buffer.from(`00000000800000040000000000000003${body}`, 'hex');
    frame.writeUInt32BE(frame.length, 0);
    expect(decodePdu(frame)).toEqual({ command: 'submit_sm_resp', status: 0, sequence: 3, messageId, tlvs: [] });
  });

  test('an answer without a body is read, because errors come like this', () => {
    expect(decodePdu(Buffer.from('00000010800000040000005800000003', 'hex'))).toEqual({
      command: 'submit_sm_resp',
      status: 0x58,
      sequence: 3,
      messageId: '',
      tlvs: [],
    });
  });
});

describe('a PDU that cannot be written', () => {
  const submit = (change: Partial<ShortMessage>) =>
    encodePdu({ command: 'submit_sm', status: 0, sequence: 1, ...MESSAGE, ...change });
  const to = (address: string) => ({ destination: { ton: 1, npi: 1, address } });

  test.each<[string, Partial<ShortMessage>]>([
    ['destination_addr is longer', to('1'.repeat(21))],
    ['destination_addr has a character', to('12\0')],
    ['destination_addr has a character', to('☎')],
    ['short_message is longer', { shortMessage: new Uint8Array(255) }],
    ['data_coding is not an octet', { dataCoding: 256 }],
    ['esm_class is not an octet', { esmClass: Number.NaN }],
    ['validity_period is longer', { validityPeriod: '0'.repeat(17) }],
    ['an optional parameter is longer', { tlvs: [{ tag: 0x424, value: new Uint8Array(65_536) }] }],
    ['too long', { tlvs: [{ tag: 0x424, value: new Uint8Array(65_500) }] }],
    ['out of range', { tlvs: [{ tag: 0x10000, value: new Uint8Array(1) }] }],
  ])('%s', (message, change) => {
    expect(() => submit(change)).toThrow(RangeError);
    expect(() => submit(change)).toThrow(message);
  });

  test('leaves the ones before and after it whole', () => {
    fc.assert(
      fc.property(fc.array(fc.option(arbitraryPdu), { maxLength: 60 }), fc.nat(59), (pdus, takeAt) => {
        const writer = new PduWriter();
        const taken: Buffer[] = [];
        const expected: Buffer[] = [];
        pdus.forEach((pdu, index) => {
          if (pdu) {
            writePdu(writer, pdu);
            expected.push(encodePdu(pdu));
          } else {
            const tlvs = [{ tag: 1, value: new Uint8Array(60_000) }];
            const broken = {
              command: 'submit_sm',
              status: 0,
              sequence: 1,
              ...MESSAGE,
              tlvs: [...tlvs, ...tlvs],
            } as const;
            expect(() => writePdu(writer, broken)).toThrow(RangeError);
          }
          if (index === takeAt) taken.push(writer.take());
        });
        expect(writer.length).toBe(Buffer.concat(expected).length - Buffer.concat(taken).length);
        taken.push(writer.take());
        expect(Buffer.concat(taken).equals(Buffer.concat(expected))).toBe(true);
      }),
    );
  });
});

describe('optional parameters', () => {
  const tlvs = [
    { tag: TAG.receiptedMessageId, value: Buffer.from('33E95179\0') },
    { tag: TAG.messageState, value: Uint8Array.of(2) },
    { tag: TAG.sarMsgRefNum, value: Uint8Array.of(0x12, 0x34) },
    { tag: TAG.networkErrorCode, value: Uint8Array.of(3, 0, 0, 0, 1) },
    { tag: TAG.messageState, value: Uint8Array.of(5) },
  ];

  test('are found by their tag, the first one', () => {
    expect(tlvString(tlvs, TAG.receiptedMessageId)).toBe('33E95179');
    expect(tlvNumber(tlvs, TAG.messageState)).toBe(2);
    expect(tlvNumber(tlvs, TAG.sarMsgRefNum)).toBe(0x1234);
    expect(tlvValue(tlvs, TAG.messagePayload)).toBeUndefined();
  });

  test('that are not a number, or have no NUL', () => {
    expect(tlvNumber(tlvs, TAG.networkErrorCode)).toBeUndefined();
    expect(tlvNumber([{ tag: 1, value: new Uint8Array(0) }], 1)).toBeUndefined();
    expect(tlvString([{ tag: 1, value: Buffer.from('abc') }], 1)).toBe('abc');
  });
});
