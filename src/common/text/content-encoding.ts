import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { isCharset } from './charset.js';

/** The decoders. Each reads a whole body, and throws if the result is larger than `maxOutputLength` or the body is incomplete. */
const DECODERS: ReadonlyMap<string, (body: Uint8Array, limit: ZlibOptions) => Uint8Array> = new Map([
  ['identity', (body) => body],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', (body, limit) => brotliDecompressSync(body, limit)],
]);

/** Words that some senders write if there is no encoding, or if they mean `Content-Transfer-Encoding`. */
const NO_ENCODING = /^(?:none|null|plain|binary|[78]bit|chunked)$/;

/**
 * Decodes a body that may have several content encodings, such as `gzip, br` (RFC 9110 section 8.4). Some senders write the name
 * of a charset there, which is ignored. Undefined for an unknown encoding, a damaged body, or a decoded body of more than
 * `maxBytes`.
 */
export function decodedContent(
  body: Uint8Array,
  encodings: string | undefined,
  maxBytes: number,
): Uint8Array | undefined {
  const names = (encodings ?? '').split(',').map((name) => name.trim().toLowerCase());
  const isEncoding = (name: string) => name !== '' && !NO_ENCODING.test(name) && !isCharset(name);
  try {
    return names
      .filter(isEncoding)
      .reduceRight<Uint8Array | undefined>(
        (bytes, name) => bytes && DECODERS.get(name)?.(bytes, { maxOutputLength: maxBytes }),
        body,
      );
  } catch {
    return undefined;
  }
}

/** Some proxies unpack a body and leave the header, so a body without gzip's first bytes is returned unchanged. */
function gunzip(body: Uint8Array, limit: ZlibOptions): Uint8Array {
  return body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body, limit) : body;
}

/**
 * Decodes `deflate`. It is the zlib format, but some servers send the raw format without its header (RFC 9110 section
 * 8.4.1.2).
 */
function inflate(body: Uint8Array, limit: ZlibOptions): Uint8Array {
  const isZlib = ((body[0] ?? 0) & 0x0f) === 8 && (((body[0] ?? 0) << 8) | (body[1] ?? 0)) % 31 === 0;
  return isZlib ? inflateSync(body, limit) : inflateRawSync(body, limit);
}
