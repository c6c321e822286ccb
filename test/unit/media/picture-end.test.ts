import { describe, expect, test } from '@jest/globals';
import { pictureEndOf } from '../../../src/media/picture-end.js';
import { PNG } from '../../support/common/png.js';
import { photoWithThumbnail } from '../../support/media/photo-with-thumbnail.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const START = 'ffd8 ffe0 0004 0000';
const SCAN = 'ffda 0003 01';

/** Whether the picture has ended after these chunks. */
function hasEnded(mimetype: string, ...chunks: Uint8Array[]): boolean {
  const end = pictureEndOf(mimetype);
  for (const chunk of chunks) end?.pass(chunk);
  return end?.hasEnded === true;
}

/** PNG chunks. Their checksums are not read. */
function png(...chunks: [type: string, content: Uint8Array][]): Buffer {
  const parts = chunks.map(([type, content]) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([length, Buffer.from(type, 'latin1'), content, Buffer.alloc(4, 1)]);
  });
  return Buffer.concat([PNG.subarray(0, 8), ...parts]);
}

describe.each([
  ['image/jpeg', 'a photo with a thumbnail', photoWithThumbnail()],
  ['image/png', 'a small picture', PNG],
  [
    'image/png',
    'a picture with another one in a chunk',
    png(['IHDR', Buffer.alloc(13)], ['teSt', PNG], ['IDAT', Buffer.alloc(300, 7)], ['IEND', Buffer.alloc(0)]),
  ],
] as const)('%s: %s', (mimetype, _, bytes) => {
  test('ends with its last byte, however it is cut into chunks, and stays ended', () => {
    expect(hasEnded(mimetype, bytes)).toBe(true);
    expect(hasEnded(mimetype, ...[...bytes].map((byte) => Uint8Array.of(byte)))).toBe(true);
    expect(hasEnded(mimetype, bytes, Buffer.alloc(20))).toBe(true);
  });

  test('does not end before', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect([length, hasEnded(mimetype, bytes.subarray(0, length))]).toEqual([length, false]);
    }
  });
});

describe('the end of a JPEG', () => {
  test.each([
    ['data with 0xFF in it', `${START} ${SCAN} 01 ff00 ffd002 ffd7 03 ffd9`],
    ['several scans', `${START} ${SCAN} 01 ffc4 0004 ffd9 ${SCAN} 02 ffd9`],
    ['filled markers', `${START} ffff ffda 0003 01 01 ffff ffd9`],
    ['an empty segment', `${START} fffe 0002 ${SCAN} 01 ffd9`],
    ['a segment whose length is wrong', `${START} fffe 0000 ${SCAN} 01 ffd9`],
    ['another picture behind it', `${START} ${SCAN} 01 ffd9 ${START}`],
  ])('is found after %s', (_, bytes) => {
    expect(hasEnded('image/jpeg', hex(bytes))).toBe(true);
  });

  test.each([
    ['the content of a segment', `${START} ffe1 0004 ffd9 ${SCAN} 01`],
    ['a comment', `${START} fffe 0006 01ffd902 ${SCAN} 01`],
    ['0xFF of the data', `${START} ${SCAN} 01 ff00d9`],
    ['a segment of which more is to come', `${START} ffe1 ffff ffd9`],
  ])('is not %s', (_, bytes) => {
    expect(hasEnded('image/jpeg', hex(bytes))).toBe(false);
  });
});

test('other types have no known end', () => {
  expect(pictureEndOf('image/webp')).toBeUndefined();
});
