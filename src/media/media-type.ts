import type { MediaKind } from './media.api.js';
import type { FetchedMedia } from './media-fetcher.js';

/** How a file is presented. */
interface Presented {
  readonly kind: MediaKind;
  /**
   * The media type in lower case, without parameters. Only Opus keeps its parameter `codecs`, because phones recognise
   * voice notes by it.
   */
  readonly mimetype: string;
}

/** The detected type of a file. */
interface MediaType extends Presented {
  /**
   * The kind of content in the bytes. Apps may be unable to show it. For example, HEIC is an `image`, but it is
   * presented as a document.
   */
  readonly content: MediaKind;
  /** The container format of the bytes, which may contain either sound or film. */
  readonly container: Container | undefined;
  /** Whether it is a web page. */
  readonly isPage: boolean;
}

/** The types of sound and of film in one container. */
interface Container {
  readonly audio: string;
  readonly video: string;
}

/** A file of known type whose bytes have not been read yet. */
interface TypedMedia {
  readonly type: MediaType;
  /** Every byte, from the first. Can be read once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The number of bytes at the start of a file that type detection needs. */
export const HEAD_BYTES = 4100;

const UNKNOWN = {
  kind: 'document',
  mimetype: 'application/octet-stream',
  content: 'document',
  container: undefined,
  isPage: false,
} as const satisfies MediaType;

/** The type of voice notes. */
export const VOICE_NOTE = 'audio/ogg; codecs=opus';

/**
 * The types that messaging apps show in the conversation, from WhatsApp's list
 * (https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types). Other pictures,
 * films and sounds stay invisible there or fail on the phone, so they are presented as documents.
 */
const SHOWN = new Set([
  'image/jpeg',
  'image/png',
  'video/mp4',
  'video/3gpp',
  'audio/aac',
  'audio/amr',
  'audio/mp4',
  'audio/mpeg',
  VOICE_NOTE,
]);

/** Types that a browser would execute. They are sent as documents of no particular type. */
const ACTIVE = /^(multipart|message)\/|[/+](html|xml|hta|(x-)?(java|ecma|j|vb)script|x-shockwave-flash)$/;

/** Document formats that are zip archives or compound files. */
const OFFICE = /^application\/(msword|epub\+zip|vnd\.(openxmlformats|oasis|ms-))/;
const ARCHIVES = new Set(['application/zip', 'application/x-cfb']);

/** Containers whose first bytes do not show whether they contain sound or film. */
const CONTAINERS: Readonly<Record<string, Container>> = {
  'video/mp4': { audio: 'audio/mp4', video: 'video/mp4' },
  'video/webm': { audio: 'audio/webm', video: 'video/webm' },
  'video/matroska': { audio: 'audio/matroska', video: 'video/matroska' },
  'video/3gpp': { audio: 'audio/3gpp', video: 'video/3gpp' },
  'video/3gpp2': { audio: 'audio/3gpp2', video: 'video/3gpp2' },
  'application/ogg': { audio: 'audio/ogg', video: 'video/ogg' },
  'application/vnd.ms-asf': { audio: 'audio/x-ms-asf', video: 'video/x-ms-asf' },
};

/** Synonyms, mapped to the name that channels know. */
const ALIASES: Readonly<Record<string, string>> = {
  'audio/x-m4a': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'image/jpg': 'image/jpeg',
  // APNG is an animation, but every reader of PNG shows its first picture.
  'image/apng': 'image/png',
  'application/mxf': 'video/mxf',
  'video/x-m4v': 'video/mp4',
};

/** Returns the kind of a media type: a document unless it is image, video or audio. SVG is a document. */
export function mediaKindOf(mimetype: string): MediaKind {
  const kind = mimetype.slice(0, mimetype.indexOf('/')).toLowerCase();
  return (kind === 'image' || kind === 'video' || kind === 'audio') && !ACTIVE.test(mimetype) ? kind : 'document';
}

/**
 * Detects the type of a file from its first bytes. Only the bytes can make it an image, a film or a sound. The `Content-Type`, and
 * then the file's name, decide between sound and film in the same container, and between kinds of documents. Markup and scripts
 * become documents of no particular type.
 *
 * @param head the first {@link HEAD_BYTES} bytes, or all if there are fewer
 */
export async function mediaTypeOf(head: Uint8Array, claims: MediaClaims = {}): Promise<MediaType> {
  const markup = markupOf(head);
  if (markup !== undefined) {
    return { ...UNKNOWN, content: markup === 'svg' ? 'image' : 'document', isPage: markup === 'html' };
  }
  const claim = claimedType(claims);
  const seen = await magicType(head);
  const mimetype = (seen === undefined ? documentType(claim) : closer(seen, claim)) ?? UNKNOWN.mimetype;
  if (ACTIVE.test(mimetype)) return UNKNOWN;
  const plain = ALIASES[mimetype] ?? mimetype;
  const content = mediaKindOf(plain);
  const container = CONTAINERS[ALIASES[seen ?? ''] ?? seen ?? ''];
  return { kind: SHOWN.has(plain) ? content : 'document', mimetype: plain, content, container, isPage: false };
}

/**
 * Returns how to present a file that its sender calls a `kind`; undefined if its bytes are not of that kind. A picture,
 * film or sound that apps cannot show is presented as a document.
 */
export function presentedAs(type: MediaType, kind: MediaKind): Presented | undefined {
  const { mimetype, content, container } = type;
  if (kind === 'document') return { kind, mimetype };
  if (kind === 'voice') return mimetype === VOICE_NOTE ? { kind, mimetype } : undefined;
  if (container && kind !== 'image') {
    const inside = container[kind];
    return { kind: SHOWN.has(inside) ? kind : 'document', mimetype: inside };
  }
  if (content !== kind) return undefined;
  return { kind: SHOWN.has(mimetype) ? kind : 'document', mimetype };
}

/**
 * Whether a file is a web page although its name says otherwise. Example: the log-in page that a server returns instead of
 * `facture.pdf`. Only types whose bytes are always recognised count, because old programs do write pages as `.xls` or `.doc`.
 */
export function isPageInstead({ isPage }: MediaType, names: readonly (string | undefined)[]): boolean {
  if (!isPage) return false;
  const promised = names.map((name) => typeOfName(name) ?? '');
  return promised.some((type) => type === 'application/pdf' || isZip(type) || mediaKindOf(type) !== 'document');
}

function isZip(mimetype: string): boolean {
  return mimetype === 'application/zip' || /^application\/(epub\+zip|vnd\.(openxmlformats|oasis))/.test(mimetype);
}

/** A claimed type that the bytes need not confirm, because some documents cannot be recognised by their bytes. */
function documentType(claim: string | undefined): string | undefined {
  return claim !== undefined && mediaKindOf(claim) === 'document' ? claim : undefined;
}

/**
 * Detects the type of an arriving file and passes on all of its bytes. Waits for the first {@link HEAD_BYTES} bytes.
 *
 * @throws the error of the body if it fails before these bytes have arrived; the body is closed then
 */
export async function detectMediaType(media: FetchedMedia): Promise<TypedMedia> {
  const { head, body } = await peek(media.body, HEAD_BYTES);
  return { type: await mediaTypeOf(head, media), body };
}

async function magicType(head: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type/core');
  // A broken file is not refused here; its bytes then determine no type.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found !== undefined) return found.mime.toLowerCase();
  // An ID3 tag with a cover picture is longer than the head, so the library does not reach the audio behind it.
  return head.length >= 10 && Buffer.from(head.subarray(0, 3)).toString('latin1') === 'ID3' ? 'audio/mpeg' : undefined;
}

function closer(seen: string, claim: string | undefined): string {
  if (claim === undefined) return seen;
  if (ARCHIVES.has(seen) && OFFICE.test(claim)) return claim;
  const container = CONTAINERS[seen];
  if (claim.startsWith('audio/')) return container?.audio ?? seen;
  return claim.startsWith('video/') ? (container?.video ?? seen) : seen;
}

/**
 * The kind of markup in a file. Markup is a text whose first character that is not white space opens a tag, comment or declaration,
 * in UTF-8, or in UTF-16 with a byte order mark. Undefined for everything else.
 */
function markupOf(head: Uint8Array): 'html' | 'svg' | 'other' | undefined {
  const start = Buffer.from(head.subarray(0, 2048)).toString('latin1');
  const text = /^(ÿþ|þÿ)/.test(start) ? start.slice(2).replaceAll('\0', '') : start.replace(/^ï»¿/, '');
  if (!/^\s*<[!?a-z]/i.test(text)) return undefined;
  // The first element decides; declarations, comments and the document type precede it.
  const first = /<([a-z][\w:-]*)/i.exec(text.replace(/<!--.*?-->/gs, ''))?.[1]?.toLowerCase();
  if (first === 'svg' || first === 'svg:svg') return 'svg';
  return /<!doctype\s+html/i.test(text) || PAGE_STARTS.has(first ?? '') ? 'html' : 'other';
}

/** Elements that a web page may begin with. */
const PAGE_STARTS = new Set([
  'html',
  'head',
  'body',
  'title',
  'meta',
  'link',
  'script',
  'style',
  'div',
  'p',
  'h1',
  'table',
]);

/** The claims of the server and the URL about a file. */
interface MediaClaims {
  /** The `Content-Type` header, unchanged. */
  readonly contentType?: string | undefined;
  readonly fileName?: string | undefined;
}

/** RFC 9110 section 8.3.1: `type "/" subtype`, with the length limits of RFC 6838 section 4.2. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/;

/** Types that servers use for unknown files. */
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

/** Types of common file extensions. */
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

/** Returns the claimed media type: the `Content-Type` if it is specific, else the type of the file extension. */
function claimedType({ contentType, fileName }: MediaClaims): string | undefined {
  const stated = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MEDIA_TYPE.test(stated) && !SAYS_NOTHING.has(stated) ? stated : typeOfName(fileName);
}

function typeOfName(fileName: string | undefined): string | undefined {
  const end = /\.([a-z0-9]{1,5})$/.exec(fileName?.toLowerCase() ?? '')?.[1];
  return end !== undefined && Object.hasOwn(BY_EXTENSION, end) ? BY_EXTENSION[end] : undefined;
}

/**
 * Reads the first bytes of a body and passes on all of it.
 *
 * @param bytes how many to read. `head` is shorter if the body is
 * @throws the error of the body
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

/**
 * A class instead of a generator. A generator that was never started does not forward `return`, so the connection would
 * stay open.
 */
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
