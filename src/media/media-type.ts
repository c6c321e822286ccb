import { fileTypeFromBuffer } from 'file-type/core';
import type { FetchedMedia } from './media-fetcher.js';

/** How a channel shows a file. */
export type MediaKind = 'image' | 'video' | 'audio' | 'document';

/** What a file is. */
interface MediaType {
  readonly kind: MediaKind;
  /** Lower case, without parameters; only Opus keeps its `codecs`, by which phones know a voice note. */
  readonly mimetype: string;
}

/** A file whose type is known, with all its bytes still to come. */
interface TypedMedia {
  readonly type: MediaType;
  /** Every byte, from the first. Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Bytes at the start of a file that tell its type. */
export const HEAD_BYTES = 4100;

const UNKNOWN: MediaType = { kind: 'document', mimetype: 'application/octet-stream' };

/** What browsers would run. It is sent as a document that says nothing of itself. */
const ACTIVE = /^(multipart|message)\/|[/+](html|xml|hta|(x-)?(java|ecma|j|vb)script|x-shockwave-flash)$/;

/** Formats that are zip archives or compound files inside. */
const OFFICE = /^application\/(msword|epub\+zip|vnd\.(openxmlformats|oasis|ms-))/;
const ARCHIVES = new Set(['application/zip', 'application/x-cfb']);

/** Containers whose first bytes do not tell sound from film, and what they are with sound alone. */
const SOUND_OF: Readonly<Record<string, string>> = {
  'video/mp4': 'audio/mp4',
  'video/webm': 'audio/webm',
  'video/3gpp': 'audio/3gpp',
  'video/3gpp2': 'audio/3gpp2',
  'application/ogg': 'audio/ogg',
};

/** Other names of what channels know under one. */
const ALIASES: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'image/jpg': 'image/jpeg',
  'video/x-m4v': 'video/mp4',
};

/** The kind that a media type belongs to: what is neither image, video nor audio is a document, and so is SVG. */
export function mediaKindOf(mimetype: string): MediaKind {
  const kind = mimetype.slice(0, mimetype.indexOf('/')).toLowerCase();
  return (kind === 'image' || kind === 'video' || kind === 'audio') && !ACTIVE.test(mimetype) ? kind : 'document';
}

/**
 * What a file is: by its first bytes, then by its `Content-Type`, then by its name. The bytes stand above what is claimed;
 * a claim only says more closely what kind of container it is. Markup and scripts are documents of no known type.
 * @param head the first {@link HEAD_BYTES} bytes, or all when there are fewer
 */
export async function mediaTypeOf(head: Uint8Array, claims: MediaClaims = {}): Promise<MediaType> {
  if (isMarkup(head)) return UNKNOWN;
  const claim = claimedType(claims);
  const seen = await magicType(head);
  const mimetype = (seen === undefined ? claim : closer(seen, claim)) ?? UNKNOWN.mimetype;
  if (ACTIVE.test(mimetype)) return UNKNOWN;
  const plain = ALIASES[mimetype] ?? mimetype;
  return { kind: mediaKindOf(plain), mimetype: plain };
}

/**
 * Finds out what is arriving, and hands on all of it. Waits for the first {@link HEAD_BYTES} bytes.
 * @throws whatever the body throws before they have come; the body has ended then
 */
export async function detectMediaType(media: FetchedMedia): Promise<TypedMedia> {
  const { head, body } = await peek(media.body, HEAD_BYTES);
  return { type: await mediaTypeOf(head, media), body };
}

async function magicType(head: Uint8Array): Promise<string | undefined> {
  // Broken files are no reason to refuse them here: then their bytes say nothing.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found !== undefined) return found.mime.toLowerCase();
  // A tag with a cover picture is longer than the head, so the library does not get as far as the sound.
  return head.length >= 10 && Buffer.from(head.subarray(0, 3)).toString('latin1') === 'ID3' ? 'audio/mpeg' : undefined;
}

function closer(seen: string, claim: string | undefined): string {
  if (claim === undefined) return seen;
  if (ARCHIVES.has(seen) && OFFICE.test(claim)) return claim;
  const sound = SOUND_OF[seen];
  if (sound !== undefined && claim.startsWith('audio/')) return sound;
  return seen === 'application/ogg' && claim.startsWith('video/') ? 'video/ogg' : seen;
}

/** Whether the first character that is no white space opens a tag, a comment or a declaration; UTF-8, or UTF-16 with its mark. */
function isMarkup(head: Uint8Array): boolean {
  const start = Buffer.from(head.subarray(0, 1024)).toString('latin1');
  const text = /^(ÿþ|þÿ)/.test(start) ? start.slice(2).replaceAll('\0', '') : start.replace(/^ï»¿/, '');
  return /^\s*<[!?a-z]/i.test(text);
}

/** What others say about a file. */
interface MediaClaims {
  /** A `Content-Type` header as it came. */
  readonly contentType?: string | undefined;
  readonly fileName?: string | undefined;
}

/** RFC 9110 section 8.3.1: `type "/" subtype`, here with the length that RFC 6838 section 4.2 allows. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/;

/** Types that servers give to what they do not know. */
const SAYS_NOTHING = new Set([
  'application/octet-stream',
  'application/binary',
  'application/download',
  'application/force-download',
  'application/x-download',
  'application/unknown',
  'application/x-www-form-urlencoded',
  'binary/octet-stream',
]);

/** What people send, by the ends of its names. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  '3gp': 'video/3gpp',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  amr: 'audio/amr',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  opus: 'audio/ogg; codecs=opus',
  wav: 'audio/wav',
  flac: 'audio/flac',
  pdf: 'application/pdf',
  txt: 'text/plain',
  csv: 'text/csv',
  vcf: 'text/vcard',
  ics: 'text/calendar',
  rtf: 'application/rtf',
  zip: 'application/zip',
  json: 'application/json',
  epub: 'application/epub+zip',
  doc: 'application/msword',
  xls: 'application/vnd.ms-excel',
  ppt: 'application/vnd.ms-powerpoint',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
};

/** The media type that a file claims to be: its `Content-Type` where that says something, else by the end of its name. */
function claimedType({ contentType, fileName }: MediaClaims): string | undefined {
  const stated = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (MEDIA_TYPE.test(stated) && !SAYS_NOTHING.has(stated)) return stated;
  const end = /\.([a-z0-9]{1,5})$/.exec(fileName?.toLowerCase() ?? '')?.[1];
  return end !== undefined && Object.hasOwn(BY_EXTENSION, end) ? BY_EXTENSION[end] : undefined;
}

/**
 * Reads the first bytes of a body and hands on all of it.
 * @param bytes how many to look at; `head` has fewer when the body does
 * @throws whatever the body throws
 */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<{ readonly head: Uint8Array; readonly body: AsyncIterable<Uint8Array> }> {
  const rest = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let size = 0;
  while (size < bytes) {
    const { done, value } = await rest.next();
    if (done) break;
    seen.push(value);
    size += value.length;
  }
  return { head: Buffer.concat(seen).subarray(0, bytes), body: new PeekedBody(seen, rest) };
}

/** Not a generator: one that was never started would not pass `return` on, and the connection behind it would stay. */
class PeekedBody implements AsyncIterableIterator<Uint8Array> {
  constructor(
    private readonly seen: Uint8Array[],
    private readonly rest: AsyncIterator<Uint8Array>,
  ) {}

  async next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.seen.shift();
    return value === undefined ? this.rest.next() : { done: false, value };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.seen.length = 0;
    await this.rest.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
