import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { MediaKind, OutgoingMedia } from '../../../../src/msgapp/msgapp-transport.js';
import { messageContent, messageReference } from '../../../../src/transports/baileys/message-sender.js';

function media(kind: MediaKind): OutgoingMedia {
  return {
    kind,
    mimetype: 'application/x-test',
    fileName: 'f.bin',
    size: 4,
    sha256: '',
    caption: 'Légende',
    async *open() {
      yield Buffer.from('ab');
      yield Buffer.from('cd');
    },
  };
}

test('a text is sent unchanged, whatever it looks like, and nothing is fetched for it', () => {
  expect(messageContent({ text: 'https://exemple.test' })).toEqual({ text: 'https://exemple.test', linkPreview: null });
});

test.each<MediaKind>(['image', 'video', 'document', 'audio', 'voice'])(
  'a file of kind %s is a stream of its bytes',
  async (kind) => {
    const content: object = messageContent({ media: media(kind) });
    expect(JSON.stringify(content)).not.toContain('"url"');
    // A voice note is an audio message with a flag.
    expect(Reflect.get(content, 'ptt')).toBe(kind === 'voice' ? true : undefined);
    const { stream }: { stream: unknown } = Reflect.get(content, kind === 'voice' ? 'audio' : kind);
    expect(stream).toBeInstanceOf(Readable);
    if (stream instanceof Readable) expect(Buffer.concat(await stream.toArray()).toString()).toBe('abcd');
    expect(content).toMatchObject({ mimetype: 'application/x-test' });
    expect('caption' in content).toBe(!['audio', 'voice'].includes(kind));
  },
);

test('no thumbnail of a video is requested, because Baileys would start ffmpeg', () => {
  expect(messageContent({ media: media('video') })).toMatchObject({ jpegThumbnail: '' });
});

test('a message always has the same reference, in the format of a web client’s ids', () => {
  expect(messageReference('a')).toBe(messageReference('a'));
  expect(messageReference('a')).not.toBe(messageReference('b'));
  expect(messageReference('a')).toMatch(/^3EB0[0-9A-F]{18}$/);
});
