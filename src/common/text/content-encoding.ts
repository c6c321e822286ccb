import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { isCharset } from './charset.js';

/** Each reads a whole body and throws when the result is larger than `maxOutputLength` or the body is not complete. */
const DECODERS: ReadonlyMap<string, (body: Uint8Array, limit: ZlibOptions) => Uint8Array> = new Map([
  ['identity', (body) => body],
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', (body, limit) => brotliDecompressSync(body, limit)],
]);

/** What some senders write for want of an encoding, or in place of `Content-Transfer-Encoding`. */
const NO_ENCODING = /^(?:none|null|plain|binary|[78]bit|chunked)$/;

/**
 * A body without its content encodings (RFC 9110 section 8.4), of which there may be several: `gzip, br`. The name of a charset,
 * which some senders write there, is none. Undefined for an
 * encoding that is not known, a damaged body, or one of more than `maxBytes`.
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

/** Some proxies unpack a body and leave the header. */
function gunzip(body: Uint8Array, limit: ZlibOptions): Uint8Array {
  return body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body, limit) : body;
}

/** `deflate` is the zlib format; some servers send the bare one (RFC 9110 section 8.4.1.2). */
function inflate(body: Uint8Array, limit: ZlibOptions): Uint8Array {
  const isZlib = ((body[0] ?? 0) & 0x0f) === 8 && (((body[0] ?? 0) << 8) | (body[1] ?? 0)) % 31 === 0;
  return isZlib ? inflateSync(body, limit) : inflateRawSync(body, limit);
}
