import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { mediaTypeOf } from '../../../src/media/media-type.js';
import { SANDBOX_MEDIA_NAMES, sandboxMedia } from '../../../src/sandbox/sandbox-media.js';

test.each([
  ['photo.jpg', 'image', 'ffd8ff', 'ffd9'],
  ['clip.mp4', 'video', '0000002066747970', ''],
  ['document.pdf', 'document', '255044462d312e34', '2525454f460a'],
  ['voice.ogg', 'audio', '4f67675300', ''],
])('%s has the type it claims, is complete, and is small', async (name, kind, start, end) => {
  const { bytes, mimetype } = sandboxMedia(name) ?? { bytes: Buffer.alloc(0), mimetype: '' };
  const hex = Buffer.from(bytes).toString('hex');
  expect([hex.startsWith(start), hex.endsWith(end)]).toEqual([true, true]);
  expect(bytes.length).toBeLessThan(8000);
  // By the bytes alone: no type is claimed.
  expect(await mediaTypeOf(bytes)).toMatchObject({ kind, mimetype });
});

test('the files are those that ffmpeg, poppler and a browser were seen to show', () => {
  const sums = SANDBOX_MEDIA_NAMES.map((name) => [
    name,
    createHash('sha256')
      .update(sandboxMedia(name)?.bytes ?? '')
      .digest('hex')
      .slice(0, 16),
  ]);
  expect(Object.fromEntries(sums)).toEqual({
    'photo.jpg': 'fbff8241569a99ef',
    'clip.mp4': '2264962200a17707',
    'document.pdf': 'df9be10cbe19321f',
    'voice.ogg': 'd650e856344b99d0',
  });
});

test('there are no other files', () => {
  expect(SANDBOX_MEDIA_NAMES).toEqual(['photo.jpg', 'clip.mp4', 'document.pdf', 'voice.ogg']);
  for (const name of ['', 'photo', 'PHOTO.JPG', '../photo.jpg', 'constructor', '__proto__']) {
    expect(sandboxMedia(name)).toBeUndefined();
  }
});
