import { describe, expect, test } from '@jest/globals';
import type { MediaKind } from '../../../src/media/media.api.js';
import {
  detectMediaType,
  HEAD_BYTES,
  isPageInstead,
  mediaKindOf,
  mediaTypeOf,
  peek,
  presentedAs,
} from '../../../src/media/media-type.js';
import { collect } from '../../support/media/collect.js';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const JPEG = hex('ffd8ffe000104a46494600010100000100010000');
const WEBP = Buffer.from('RIFF\x24\0\0\0WEBPVP8 ', 'latin1');
const ftyp = (brand: string, size = 28) =>
  Buffer.concat([hex(`000000${size.toString(16)}`), Buffer.from(`ftyp${brand}\0\0\0\0`), Buffer.alloc(40)]);
const ogg = (first: string) =>
  Buffer.concat([
    Buffer.from('OggS\0\x02', 'latin1'),
    Buffer.alloc(20),
    hex('0113'),
    Buffer.from(first, 'latin1'),
    Buffer.alloc(64),
  ]);
const ZIP = hex('504b0304 1400 0000 0000 0000 0000 00000000 00000000 00000000 0100 0000 61');
const CFB = Buffer.concat([hex('d0cf11e0a1b11ae1'), Buffer.alloc(512)]);
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const UNKNOWN = 'document application/octet-stream';

async function typeOf(head: string | Uint8Array, contentType?: string, fileName?: string): Promise<string> {
  const { kind, mimetype } = await mediaTypeOf(typeof head === 'string' ? Buffer.from(head) : head, {
    contentType,
    fileName,
  });
  return `${kind} ${mimetype}`;
}

describe('the first bytes', () => {
  test.each<[string, Uint8Array | string, string]>([
    ['JPEG', JPEG, 'image image/jpeg'],
    ['WebP, which apps do not show', WEBP, 'document image/webp'],
    ['MP4', ftyp('isom'), 'video video/mp4'],
    ['MP4 whose first box has 60 bytes ("<")', ftyp('isom', 60), 'video video/mp4'],
    ['M4A', ftyp('M4A '), 'audio audio/mp4'],
    ['QuickTime, which apps do not show', ftyp('qt  '), 'document video/quicktime'],
    ['Opus in Ogg', ogg('OpusHead'), 'audio audio/ogg; codecs=opus'],
    ['Vorbis in Ogg, which apps do not play', ogg('\x01vorbis'), 'document audio/ogg'],
    ['Theora in Ogg, which apps do not play', ogg('\x80theora'), 'document video/ogg'],
    ['MP3', hex('fffb9064'), 'audio audio/mpeg'],
    ['MP3 with a large tag', Buffer.concat([hex('49443304000000000f76'), Buffer.alloc(5000)]), 'audio audio/mpeg'],
    ['PDF', '%PDF-1.4\n', 'document application/pdf'],
    ['zip', ZIP, 'document application/zip'],
  ])('identify %s, whatever type is claimed', async (_name, head, expected) => {
    expect(await typeOf(head)).toBe(expected);
    expect(await typeOf(head, 'text/plain', 'a.txt')).toBe(expected);
  });

  test('that look cut or broken identify nothing, and nothing fails', async () => {
    const cut = [JPEG.subarray(0, 1), Buffer.alloc(0), hex('89504e47'), hex('000000'), hex('4f67675300')];
    for (const head of cut) expect(await typeOf(head)).toBe(UNKNOWN);
  });

  test('identify a container; the claimed type distinguishes sound from film in it', async () => {
    expect(await typeOf(ftyp('isom'), 'audio/mp4')).toBe('audio audio/mp4');
    expect(await typeOf(ftyp('isom'), 'application/octet-stream', 'a.M4A')).toBe('audio audio/mp4');
    expect(await typeOf(ftyp('M4A '), 'video/mp4')).toBe('audio audio/mp4');
    expect(await typeOf(JPEG, 'audio/mpeg')).toBe('image image/jpeg');
  });

  test('identify an archive; an office file is identified by its claimed type, any other by nothing', async () => {
    expect(await typeOf(ZIP, undefined, 'a.docx')).toBe(`document ${DOCX}`);
    expect(await typeOf(ZIP, DOCX)).toBe(`document ${DOCX}`);
    expect(await typeOf(CFB, 'application/msword')).toBe('document application/msword');
    for (const claim of ['image/png', 'application/pdf', 'text/html', 'application/java-archive']) {
      expect(await typeOf(ZIP, claim)).toBe('document application/zip');
    }
  });
});

describe('the type that the sender claims', () => {
  const PNG = Buffer.concat([hex('89504e470d0a1a0a 0000000d 49484452 00000001 00000001 08060000001f15c489')]);
  const FILES: Readonly<Record<string, string | Uint8Array>> = {
    JPEG,
    PNG,
    GIF: 'GIF89a',
    WebP: WEBP,
    HEIC: ftyp('heic'),
    AVIF: ftyp('avif'),
    TIFF: hex('49492a00 08000000 0000'),
    BMP: 'BM',
    SVG: '<?xml version="1.0"?><!-- a --><svg xmlns="http://www.w3.org/2000/svg"/>',
    MP4: ftyp('isom'),
    '3GP': ftyp('3gp5'),
    QuickTime: ftyp('qt  '),
    WebM: hex('1a45dfa3 9f 4286 81 01 42f7 81 01 42f2 81 04 42f3 81 08 4282 84 7765626d 4287 81 02'),
    AVI: Buffer.from('RIFF\x24\0\0\0AVI LIST', 'latin1'),
    FLV: Buffer.from('FLV\x01\x05\0\0\0\x09', 'latin1'),
    M4A: ftyp('M4A '),
    MP3: hex('fffb9064'),
    AAC: hex('fff15080'),
    AMR: '#!AMR\n',
    Opus: ogg('OpusHead'),
    Vorbis: ogg('\x01vorbis'),
    WAV: Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'),
    FLAC: 'fLaC\0\0\0\x22',
    PDF: '%PDF-1.4\n',
    zip: ZIP,
    text: 'Bonjour',
    HTML: '<!DOCTYPE html><html></html>',
    JSON: '{"error":"not found"}',
    'half a PNG': PNG.subarray(0, 8),
    'half a JPEG': JPEG.subarray(0, 2),
  };
  const AS: Readonly<Record<Exclude<MediaKind, 'document'>, Readonly<Record<string, string>>>> = {
    image: {
      JPEG: 'image image/jpeg',
      PNG: 'image image/png',
      GIF: 'document image/gif',
      WebP: 'document image/webp',
      HEIC: 'document image/heic',
      AVIF: 'document image/avif',
      TIFF: 'document image/tiff',
      BMP: 'document image/bmp',
      SVG: 'document application/octet-stream',
    },
    video: {
      MP4: 'video video/mp4',
      '3GP': 'video video/3gpp',
      QuickTime: 'document video/quicktime',
      WebM: 'document video/webm',
      AVI: 'document video/vnd.avi',
      FLV: 'document video/x-flv',
    },
    audio: {
      M4A: 'audio audio/mp4',
      MP3: 'audio audio/mpeg',
      AAC: 'audio audio/aac',
      AMR: 'audio audio/amr',
      Opus: 'audio audio/ogg; codecs=opus',
      Vorbis: 'document audio/ogg',
      WAV: 'document audio/wav',
      FLAC: 'document audio/flac',
      // The first bytes of these may look like sound.
      MP4: 'audio audio/mp4',
      '3GP': 'document audio/3gpp',
      WebM: 'document audio/webm',
    },
    voice: { Opus: 'voice audio/ogg; codecs=opus' },
  };
  const kinds = Object.keys(AS) as (keyof typeof AS)[];

  test.each(kinds.flatMap((kind) => Object.keys(FILES).map((name) => [name, kind] as const)))(
    'makes %s a %s if the bytes are of that kind; otherwise the file is refused, whatever is claimed',
    async (name, kind) => {
      const bytes = FILES[name] ?? '';
      const head = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
      for (const contentType of [undefined, 'image/jpeg', 'audio/ogg; codecs=opus', 'text/plain']) {
        const as = presentedAs(await mediaTypeOf(head, { contentType, fileName: 'photo.jpg' }), kind);
        expect(as && `${as.kind} ${as.mimetype}`).toBe(AS[kind][name]);
      }
    },
  );

  test.each(Object.keys(FILES))('may make a document of %s', async (name) => {
    const bytes = FILES[name] ?? '';
    const type = await mediaTypeOf(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    expect(presentedAs(type, 'document')?.kind).toBe('document');
  });
});

describe('a web page', () => {
  const page = '<!DOCTYPE html><html><head><title>Connexion</title>';

  test.each([
    ['facture.pdf', page],
    ['photo.jpg', page],
    ['lettre.docx', ' \n<html>'],
    ['clip.mp4', '<!-- a --><HEAD>'],
    ['archive.zip', '<script>location = "/login"</script>'],
  ])('in place of %s is detected', async (name, text) => {
    const type = await mediaTypeOf(Buffer.from(text));
    expect(isPageInstead(type, ['login', name])).toBe(true);
  });

  test.each([
    ['page.html', page],
    ['liste.xls', page],
    ['noms', page],
    ['dessin.jpg', '<svg/>'],
    ['facture.pdf', '<?xml version="1.0"?><invoice/>'],
    ['facture.pdf', '%PDF-1.4'],
  ])('is not seen in %s that contains %p', async (name, text) => {
    expect(isPageInstead(await mediaTypeOf(Buffer.from(text)), [undefined, name])).toBe(false);
  });
});

describe('a claimed type', () => {
  const noise = hex('0102030405060708090a');

  test.each<[string | undefined, string | undefined, string]>([
    ['image/PNG; a=b', 'a.pdf', UNKNOWN],
    [' audio/x-m4a ', undefined, UNKNOWN],
    ['application/octet-stream', 'clip.MP4', UNKNOWN],
    [undefined, 'voice.opus', UNKNOWN],
    ['application/octet-stream', 'letter.RTF', 'document application/rtf'],
    [' text/calendar ', 'a.png', 'document text/calendar'],
    [undefined, 'table.csv', 'document text/csv'],
    ['text/plain; charset=utf-8', 'clip.mp4', 'document text/plain'],
    [undefined, 'noend', UNKNOWN],
    [undefined, 'a.constructor', UNKNOWN],
    ['rubbish', undefined, UNKNOWN],
    ['image/', undefined, UNKNOWN],
    ['image/png\r\nx: y', undefined, UNKNOWN],
    [`image/${'x'.repeat(200)}`, undefined, UNKNOWN],
    ['', '', UNKNOWN],
  ])('of %p, %p makes a document if the bytes say nothing, and no more', async (contentType, fileName, expected) => {
    expect(await typeOf(noise, contentType, fileName)).toBe(expected);
  });
});

describe('what a browser would run', () => {
  test.each([
    '<html><body>',
    '<!DOCTYPE html>',
    ' \r\n\t<script>alert(1)</script>',
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    '<?xml version="1.0"?><svg/>',
    '<!-- x --><svg/>',
    '\u{feff}<svg/>',
  ])('is a document without a type, judged by its bytes: %p', async (text) => {
    for (const claim of [undefined, 'image/png', 'video/mp4', 'image/svg+xml', 'text/html']) {
      expect(await typeOf(text, claim, 'a.jpg')).toBe(UNKNOWN);
    }
    expect(await typeOf(Buffer.from(`\u{feff}${text.trim()}`, 'utf16le'), 'image/png')).toBe(UNKNOWN);
  });

  test.each([
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'TEXT/XML',
    'application/javascript',
    'text/javascript; charset=utf-8',
    'multipart/related',
    'message/rfc822',
    'application/x-shockwave-flash',
  ])('is a document without a type, judged by its claimed type: %p', async (claim) => {
    expect(await typeOf('alert(1)', claim, 'a.png')).toBe(UNKNOWN);
  });

  test('is not an image, even if it claims an image type', () => {
    expect(mediaKindOf('image/svg+xml')).toBe('document');
    expect(['image/webp', 'VIDEO/mp4', 'audio/ogg; codecs=opus', 'text/csv', ''].map(mediaKindOf)).toEqual([
      'image',
      'video',
      'audio',
      'document',
      'document',
    ]);
  });
});

describe('a body', () => {
  /** Chunks of a body. Records what was asked of it. */
  class Source implements AsyncIterableIterator<Uint8Array> {
    asked = 0;
    returned = 0;
    constructor(private readonly chunks: (Uint8Array | Error)[]) {}
    async next(): Promise<IteratorResult<Uint8Array>> {
      this.asked++;
      const value = this.chunks.shift();
      if (value instanceof Error) throw value;
      return value === undefined ? { done: true, value: undefined } : { done: false, value };
    }
    async return(): Promise<IteratorResult<Uint8Array>> {
      this.returned++;
      return { done: true, value: undefined };
    }
    [Symbol.asyncIterator](): this {
      return this;
    }
  }
  const media = (body: AsyncIterable<Uint8Array>) => ({ contentType: undefined, fileName: undefined, body });

  test('is read only as far as needed, and passed on whole', async () => {
    const bytes = Buffer.concat([JPEG, Buffer.alloc(20_000, 7)]);
    const chunks = Array.from({ length: 21 }, (_, at) => bytes.subarray(at * 1000, at * 1000 + 1000));
    const source = new Source(chunks);
    const { type, body } = await detectMediaType(media(source));
    expect(type).toMatchObject({ kind: 'image', mimetype: 'image/jpeg' });
    expect(source.asked).toBe(Math.ceil(HEAD_BYTES / 1000));
    expect((await collect(body)).equals(bytes)).toBe(true);
  });

  test.each([[[]], [[Buffer.alloc(0)]], [[JPEG]], [[Buffer.alloc(0), JPEG.subarray(0, 1), JPEG.subarray(1)]]])(
    'that is short or arrives in small pieces is passed on whole',
    async (chunks) => {
      const whole = Buffer.concat(chunks);
      const { type, body } = await detectMediaType(media(new Source([...chunks])));
      expect(type.kind).toBe(whole.length > 0 ? 'image' : 'document');
      expect((await collect(body)).equals(whole)).toBe(true);
    },
  );

  test('that is abandoned is closed at its source, whether it was read or not', async () => {
    const unread = new Source([JPEG, JPEG]);
    await (await peek(unread, 5)).body[Symbol.asyncIterator]().return?.();
    const begun = new Source([JPEG, JPEG, JPEG]);
    for await (const _ of (await peek(begun, 5)).body) break;
    expect([unread.returned, begun.returned]).toEqual([1, 1]);
  });

  test('that breaks throws at its reader, after the bytes that had arrived', async () => {
    await expect(detectMediaType(media(new Source([JPEG, new Error('cut')])))).rejects.toThrow('cut');
    const { body } = await peek(new Source([JPEG, new Error('cut')]), 5);
    const seen: Uint8Array[] = [];
    const reading = (async () => {
      for await (const chunk of body) seen.push(chunk);
    })();
    await expect(reading).rejects.toThrow('cut');
    expect(Buffer.concat(seen).equals(JPEG)).toBe(true);
  });
});
