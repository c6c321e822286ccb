import { AsyncResource } from 'node:async_hooks';
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Answer } from '../accounts/keys/authenticator.js';
import { type ErrorCode, MessagingError } from '../common/errors.js';
import type { HttpSettings } from './http-options.js';
import { JsonStructure } from './json-structure.js';

/** How many bytes of an unauthenticated request are read at most. */
export const UNAUTHENTICATED_BYTES = 65_536;

/** How many of `{`, `[`, `,` and `:` a body may have besides those of its recipients. */
const OTHER_STRUCTURE = 10_000;

/** How many of them a body may have for each of `maxRecipients`: enough for a number and 17 variables, on average. */
const STRUCTURE_PER_RECIPIENT = 40;

/** How many of `{` and `[` a body may have for each of `maxRecipients`: those of the recipient and its variables. */
const CONTAINERS_PER_RECIPIENT = 2;

/** Discards a body. */
const NOTHING: BodyBytes = { write: () => undefined, end: () => ({}) };

/** How a body is received. */
interface BodyIntake {
  /** The maximum number of bytes; a larger body is refused with `tooLarge`. */
  readonly limit: number;
  readonly tooLarge: ErrorCode;
  /** Seconds, for `tooLarge`. */
  readonly retryAfter?: number | undefined;
  readonly into: BodyBytes;
}

/**
 * Decides how the body under these headers is received. Without a valid key, the body is discarded and the guard refuses the
 * request. A body that is not JSON must be empty.
 * @param who undefined on a route without authentication; little is read there, because anybody may send it
 */
export function bodyIntake(
  headers: IncomingHttpHeaders,
  { maxBodyBytes, maxRecipients }: HttpSettings,
  who: Answer | undefined,
): BodyIntake {
  const little = Math.min(UNAUTHENTICATED_BYTES, maxBodyBytes);
  if (who?.kind === 'refused') {
    return { limit: little, tooLarge: who.code, retryAfter: who.retryAfter, into: NOTHING };
  }
  if (!isPlainJson(headers)) return { limit: 0, tooLarge: 'error.unsupported_media_type', into: NOTHING };
  const into = new JsonBody(
    STRUCTURE_PER_RECIPIENT * maxRecipients + OTHER_STRUCTURE,
    CONTAINERS_PER_RECIPIENT * maxRecipients + OTHER_STRUCTURE,
  );
  return { limit: who === undefined ? little : maxBodyBytes, tooLarge: 'error.body_too_large', into };
}

/**
 * Decides how a body that is passed on unparsed is received. Forms have a lower limit, because they are parsed before the sender is
 * authenticated.
 */
export function rawIntake(headers: IncomingHttpHeaders, most: number, maxBytes: number): BodyIntake {
  const limit = Math.min(most, maxBytes, isForm(headers) ? UNAUTHENTICATED_BYTES : most);
  return { limit, tooLarge: 'error.body_too_large', into: new RawBytes() };
}

/** Whether a body under these headers has a media type that its route takes as a stream: uncompressed, in UTF-8. */
export function isStreamed(
  { 'content-type': type = '', 'content-encoding': encoding }: IncomingHttpHeaders,
  streamed: string,
): boolean {
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return false;
  const [media = ''] = type.split(';');
  if (media.trim().toLowerCase() !== streamed) return false;
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8';
}

/** Whether a request of HTTP/1 announces a body (RFC 9112 section 6.3); an HTTP/2 request need not announce one. */
export function mayHaveBody(headers: IncomingHttpHeaders, httpVersionMajor: number): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined || httpVersionMajor > 1;
}

class RawBytes implements BodyBytes {
  private readonly pieces: Buffer[] = [];

  write(bytes: Buffer): void {
    this.pieces.push(bytes);
  }

  end(): Buffer {
    return Buffer.concat(this.pieces);
  }
}

/** Receives the bytes of a body in order. An exception refuses the request. */
interface BodyBytes {
  write(bytes: Buffer): void;
  /** The body; called once after the last write. */
  end(): unknown;
}

/** Receives the result of reading a body. There is no result if the client disconnects. */
interface BodySink {
  complete(body: unknown): void;
  refused(error: unknown): void;
  tooLarge(): void;
}

/** Chunks are joined once they reach this size or number, because Node uses hundreds of bytes even for a chunk of one byte. */
const JOINED_BYTES = 65_536;
const JOINED_PIECES = 1024;

/** For a body of this size or more, in bytes, the event loop gets a turn between the parsing and the handler. */
const LARGE_BYTES = 1_048_576;

/**
 * Reads a body of at most `limit` bytes. When the body is refused or exceeds the limit, reading stops at once and the rest
 * stays in the socket. The returned function stops reading for good.
 */
export function readBody(body: Readable, limit: number, into: BodyBytes, sink: BodySink): () => void {
  // The sink runs in the async context of the request (AsyncLocalStorage, tracing), not in that of the socket.
  const context = new AsyncResource('MessagingBody');
  let pieces: Buffer[] = [];
  let joined = 0;
  let size = 0;

  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) {
      stop();
      context.runInAsyncScope(sink.tooLarge, sink);
      return;
    }
    joined += chunk.length;
    if (pieces.push(chunk) >= JOINED_PIECES || joined >= JOINED_BYTES) attempt(write);
  };
  const onEnd = (): void => {
    const whole = attempt(() => {
      write();
      return { body: into.end() };
    });
    if (whole === undefined) return;
    stop();
    if (size < LARGE_BYTES) context.runInAsyncScope(sink.complete, sink, whole.body);
    else setImmediate(() => context.runInAsyncScope(sink.complete, sink, whole.body));
  };
  const write = (): void => {
    const [only] = pieces;
    const bytes = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, joined);
    pieces = [];
    joined = 0;
    into.write(bytes);
  };
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return step();
    } catch (error) {
      stop();
      context.runInAsyncScope(sink.refused, sink, error);
      return undefined;
    }
  };
  const stop = (): void => {
    body.off('data', onData).off('end', onEnd).pause();
    pieces = [];
  };

  body.on('data', onData).on('end', onEnd).on('error', ignore);
  return stop;
}

/** The client disconnected while sending; the request ends with its connection. */
function ignore(): void {}

/** A request's body as parsed. */
type JsonObject = Record<string, unknown>;

const NO_BYTES = Buffer.alloc(0);

/**
 * Receives a body that must be one JSON object; an empty body is `{}`. Each chunk is checked and decoded when it arrives, so
 * that only parsing remains for the end. Invalid UTF-8 is refused, because a replacement would put `�` into an SMS. A byte
 * order mark is ignored (RFC 8259 section 8.1).
 */
export class JsonBody implements BodyBytes {
  private readonly structure: JsonStructure;
  private text = '';
  /** The first bytes of a character whose last bytes have not arrived. */
  private rest = NO_BYTES;

  /**
   * @param maxStructure how many of `{`, `[`, `,` and `:` the body may have outside its strings
   * @param maxContainers how many of these may be `{` and `[`
   */
  constructor(maxStructure: number, maxContainers = maxStructure) {
    this.structure = new JsonStructure(maxStructure, maxContainers);
  }

  /** @throws MessagingError `error.malformed_json`, `error.request_invalid` for too much structure */
  write(bytes: Buffer): void {
    this.structure.read(bytes);
    const joined = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const end = endOfWholeCharacters(joined);
    const isWhole = end === joined.length;
    const whole = isWhole ? joined : joined.subarray(0, end);
    if (!isUtf8(whole)) throw new MessagingError('error.malformed_json');
    this.text += whole.toString('utf8');
    this.rest = isWhole ? NO_BYTES : Buffer.from(joined.subarray(end));
  }

  /** @throws MessagingError `error.malformed_json`, `error.body_not_object` */
  end(): JsonObject {
    if (this.rest.length > 0) throw new MessagingError('error.malformed_json');
    const text = this.text;
    if (text === '') return {};
    return asJsonObject(parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text));
  }
}

/**
 * Returns a JSON object.
 * @throws MessagingError `error.body_not_object` for any other JSON value
 */
export function asJsonObject(value: unknown): JsonObject {
  if (!isObject(value)) throw new MessagingError('error.body_not_object');
  // Copied to another object, a property of this name would change its prototype.
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the body, so it is not kept as the cause.
    throw new MessagingError('error.malformed_json');
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The offset of the last character when it is incomplete (RFC 3629 section 3), else the length. */
function endOfWholeCharacters(bytes: Buffer): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] ?? 0;
    if (byte < 0x80) return length;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back ? length - back : length;
    }
  }
  return length;
}

/** The most frequent content type. */
const USUAL = 'application/json';

/** `application/json` with parameters (RFC 9110 section 8.3.1), the media type in any case. */
const JSON_TYPE = /^\s*application\/json\s*(;.*)?$/i;

/** The charset among the parameters, bare or quoted. */
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/** Whether a body under these headers is JSON as we read it: UTF-8 (RFC 8259 section 8.1), not compressed. */
function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return false;
  const type = headers['content-type'];
  if (type === USUAL) return true;
  if (type === undefined || !JSON_TYPE.test(type)) return false;
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8';
}

/** Whether a body under these headers is a form (`application/x-www-form-urlencoded`). */
function isForm({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return /^\s*application\/x-www-form-urlencoded\s*(;.*)?$/i.test(type);
}
