import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { MessagingError, StorageUnavailableError } from '../common/errors.js';
import type { ReplyHeaders } from '../http/parameters.js';
import { MediaStore } from '../media/media-store.js';
import { PhoneStore } from './phones/phone-store.js';

/**
 * The types that are served under their own name: pictures, sound and video, because they cannot run code. Every other file,
 * including SVG and HTML, is served as an attachment of no particular type.
 */
const PLAYED: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/avif',
  'audio/mpeg',
  'audio/mp4',
  'audio/aac',
  'audio/ogg',
  'audio/webm',
  'audio/wav',
  'audio/flac',
  'video/mp4',
  'video/webm',
  'video/ogg',
  'video/3gpp',
  'video/quicktime',
];

const ANY_FILE = 'application/octet-stream';

/** All media types that received files are served with. */
export const SERVED_TYPES: readonly string[] = [...PLAYED, ANY_FILE];

/** Returns the HTML element that shows a file in a browser. Undefined if the file can only be saved. */
export function playerOf(mimetype: string): 'image' | 'audio' | 'video' | undefined {
  const type = withoutParameters(mimetype);
  if (!PLAYED.includes(type)) return undefined;
  return type.startsWith('image/') ? 'image' : type.startsWith('audio/') ? 'audio' : 'video';
}

/** Serves the files that sandbox phones received. */
@Injectable()
export class SandboxFiles {
  constructor(
    private readonly phones: PhoneStore,
    private readonly media: MediaStore,
  ) {}

  /**
   * Returns the file of a message, or the requested part of it, because some browsers play files only in parts.
   *
   * @param range the `Range` header. It is ignored unless it is a single range of bytes inside the file (RFC 9110 section 14.2)
   * @throws MessagingError `error.file_not_found` if the phone has no such message or the bytes are no longer stored
   */
  async open(number: string, messageId: string, range: string, headers: ReplyHeaders): Promise<StreamableFile> {
    const file = await this.phones.file(number, messageId);
    if (!file) throw new MessagingError('error.file_not_found');
    const { id, mimetype, size } = file;
    const part = rangeOf(range, size);
    const { start, end } = part ?? { start: 0, end: size };
    const bytes = await begun(this.media.read(id));
    if (part) {
      headers.status(206);
      headers.set('Content-Range', `bytes ${start}-${end - 1}/${size}`);
    }
    const type = withoutParameters(mimetype);
    return new StreamableFile(Readable.from(slice(bytes, start, end), { objectMode: false }), {
      length: end - start,
      ...(PLAYED.includes(type) ? { type } : { type: ANY_FILE, disposition: 'attachment' }),
    });
  }

  /** Removes all messages with their files. */
  async clear(): Promise<void> {
    await this.media.remove(await this.phones.clear());
  }
}

function withoutParameters(mimetype: string): string {
  return (mimetype.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Returns the first byte of a single range, and the byte after its last byte. */
function rangeOf(header: string, size: number): { readonly start: number; readonly end: number } | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header) ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(size - Number(last), 0) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size);
  return start < end ? { start, end } : undefined;
}

/** Reads the first chunk, so that a missing file is noticed before the answer begins. */
async function begun(bytes: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const rest = bytes[Symbol.asyncIterator]();
  const first = await rest.next().catch((error: unknown) => {
    throw error instanceof StorageUnavailableError ? error : new MessagingError('error.file_not_found');
  });
  return (async function* () {
    for (let step = first; !step.done; step = await rest.next()) yield step.value;
  })();
}

async function* slice(bytes: AsyncIterable<Uint8Array>, start: number, end: number): AsyncIterable<Uint8Array> {
  let at = 0;
  for await (const chunk of bytes) {
    if (at >= end) return;
    if (at + chunk.length > start) yield chunk.subarray(Math.max(start - at, 0), end - at);
    at += chunk.length;
  }
}
