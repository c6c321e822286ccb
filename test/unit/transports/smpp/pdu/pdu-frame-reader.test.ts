import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FrameReader, FramingError, MAX_PDU_LENGTH } from '../../../../../src/transports/smpp/pdu/frame-reader.js';
import { arbitraryPdu } from '../../../../support/transports/smsc/arbitrary-pdu.js';
import { encodePdu } from '../../../../support/transports/smsc/encode-pdu.js';

/** A PDU of `length` octets, as far as framing is concerned. */
function frameOf(length: number): Buffer {
  const frame = Buffer.alloc(length, 0xab);
  frame.writeUInt32BE(length, 0);
  return frame;
}

function reading(): { readonly reader: FrameReader; readonly seen: Buffer[] } {
  const seen: Buffer[] = [];
  return { reader: new FrameReader((frame) => seen.push(Buffer.from(frame))), seen };
}

describe('frames', () => {
  test('are the same however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(arbitraryPdu, { minLength: 1, maxLength: 8 }), fc.array(fc.nat(300)), (pdus, cuts) => {
        const frames = pdus.map(encodePdu);
        const stream = Buffer.concat(frames);
        const { reader, seen } = reading();
        let at = 0;
        for (const cut of [...cuts, stream.length]) {
          reader.push(Buffer.from(stream.subarray(at, at + cut)));
          at += cut;
        }
        expect(seen).toEqual(frames);
      }),
      { numRuns: 300 },
    );
  });

  test('are read even octet by octet', () => {
    const frames = [frameOf(16), frameOf(17), frameOf(300)];
    const { reader, seen } = reading();
    for (const octet of Buffer.concat(frames)) reader.push(Buffer.of(octet));
    expect(seen).toEqual(frames);
  });

  test('of 64 KiB are accepted, octet by octet', () => {
    const { reader, seen } = reading();
    const frame = frameOf(MAX_PDU_LENGTH);
    for (const octet of frame) reader.push(Buffer.of(octet));
    expect(seen).toEqual([frame]);
  });
});

describe('an impossible length', () => {
  test.each([0, 4, 15, MAX_PDU_LENGTH + 1, 2 ** 31 - 1, 2 ** 32 - 1])(
    'of %d ends the stream, after the frames before it',
    (length) => {
      const bad = Buffer.alloc(16);
      bad.writeUInt32BE(length, 0);
      for (const step of [1, 3, 4, 5, 40]) {
        const { reader, seen } = reading();
        const stream = Buffer.concat([frameOf(16), frameOf(20), bad]);
        expect(() => {
          for (let at = 0; at < stream.length; at += step) reader.push(stream.subarray(at, at + step));
        }).toThrow(FramingError);
        expect(seen).toEqual([frameOf(16), frameOf(20)]);
      }
    },
  );
});

test('garbage never causes anything but frames and framing errors', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 20 }), (chunks) => {
      const { reader, seen } = reading();
      try {
        for (const chunk of chunks) reader.push(Buffer.from(chunk));
      } catch (error) {
        expect(error).toBeInstanceOf(FramingError);
      }
      const stream = Buffer.concat(chunks);
      expect(Buffer.concat(seen).equals(stream.subarray(0, Buffer.concat(seen).length))).toBe(true);
    }),
    { numRuns: 500 },
  );
});
