import { AsyncResource } from 'node:async_hooks';
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Answer } from '../accounts/authenticator.js';
import { type ErrorCode, MessagingError } from '../common/errors.js';
import type { HttpSettings } from './http-settings.js';
import { JsonStructure } from './json-structure.js';

/** The most bytes that are read for somebody who has not said who it is. */
export const UNAUTHENTICATED_BYTES = 65_536;

/** How many of `{`, `[`, `,` and `:` a body may have besides those of two lists of `maxRecipients` texts: a comma each. */
const OTHER_STRUCTURE = 10_000;

/** A body that nobody looks at. */
const NOTHING: BodyBytes = { write: () => undefined, end: () => ({}) };

/** How a body is taken in. */
interface BodyIntake {
  /** At most so many bytes, else the request is refused with `tooLarge`. */
  readonly limit: number;
  readonly tooLarge: ErrorCode;
  readonly into: BodyBytes;
}

/**
 * How the body under these headers is taken in. The body of a caller without a valid key is read past, and the guard refuses the
 * request; what is no JSON may only be empty.
 * @param who undefined on a route that asks for no key
 */
export function bodyIntake(
  headers: IncomingHttpHeaders,
  { maxBodyBytes, maxRecipients }: HttpSettings,
  who: Answer | undefined,
): BodyIntake {
  if (who?.kind === 'refused') {
    return { limit: Math.min(UNAUTHENTICATED_BYTES, maxBodyBytes), tooLarge: who.code, into: NOTHING };
  }
  if (!isPlainJson(headers)) return { limit: 0, tooLarge: 'error.unsupported_media_type', into: NOTHING };
  const into = new JsonBody(2 * maxRecipients + OTHER_STRUCTURE);
  return { limit: maxBodyBytes, tooLarge: 'error.body_too_large', into };
}

/** How a body is taken in that is handed on as it came. A form is handed on to be parsed before its sender is known. */
export function rawIntake(headers: IncomingHttpHeaders, most: number, maxBytes: number): BodyIntake {
  const limit = Math.min(most, maxBytes, isForm(headers) ? UNAUTHENTICATED_BYTES : most);
  return { limit, tooLarge: 'error.body_too_large', into: new RawBytes() };
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

/** What a body's bytes are given to, in their order. What it throws refuses the request. */
interface BodyBytes {
  write(bytes: Buffer): void;
  /** The body, when all of it was written. */
  end(): unknown;
}

/** What became of a body. A body that breaks off says nothing, its client is gone. */
interface BodySink {
  complete(body: unknown): void;
  refused(error: unknown): void;
  tooLarge(): void;
}

/** Pieces are joined until they are so large or so many: Node makes an object of hundreds of bytes for a piece of one byte. */
const JOINED_BYTES = 65_536;
const JOINED_PIECES = 1024;

/** From so many bytes on, other requests get their turn between the parsing of a body and what its handler does with it. */
const LARGE_BYTES = 1_048_576;

/**
 * Reads a body of at most `limit` bytes. When the body is refused or passes the limit, reading stops at once and the rest stays
 * in the socket. The answer stops the reading for good.
 */
export function readBody(body: Readable, limit: number, into: BodyBytes, sink: BodySink): () => void {
  // The sink goes on in the request's own async context (AsyncLocalStorage, tracing), not in the socket's.
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

/** A client that hangs up while it sends; the exchange ends with the connection. */
function ignore(): void {}

/** A request's body as parsed. */
type JsonObject = Record<string, unknown>;

/**
 * Takes in a body that must be one JSON object; nothing at all stands for `{}`. Each piece is checked and decoded when it comes,
 * so that only parsing is left for the end. Bytes that are no UTF-8 are refused rather than replaced: they would end up as `�`
 * in an SMS. A byte order mark is ignored (RFC 8259 section 8.1).
 */
export class JsonBody implements BodyBytes {
  private readonly structure: JsonStructure;
  private text = '';
  /** The first bytes of a character whose last ones have not come yet. */
  private rest = Buffer.alloc(0);

  /** @param maxStructure how many of `{`, `[`, `,` and `:` the body may have outside its strings */
  constructor(maxStructure: number) {
    this.structure = new JsonStructure(maxStructure);
  }

  /** @throws MessagingError `error.malformed_json`, `error.request_invalid` for too much structure */
  write(bytes: Buffer): void {
    this.structure.read(bytes);
    const joined = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const end = endOfWholeCharacters(joined);
    const whole = joined.subarray(0, end);
    if (!isUtf8(whole)) throw new MessagingError('error.malformed_json');
    this.text += whole.toString('utf8');
    this.rest = Buffer.from(joined.subarray(end));
  }

  /** @throws MessagingError `error.malformed_json`, `error.body_not_object` */
  end(): JsonObject {
    if (this.rest.length > 0) throw new MessagingError('error.malformed_json');
    const text = this.text;
    if (text === '') return {};
    return asJsonObject(parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text));
  }
}

/** Passes on an object; anything else that JSON can be is refused. */
export function asJsonObject(value: unknown): JsonObject {
  if (!isObject(value)) throw new MessagingError('error.body_not_object');
  // An own property of this name would change the prototype of whatever the fields are copied to.
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

/** Where the last character begins when its bytes are not all there (RFC 3629 section 3), else the length. */
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

/** What clients nearly always send. */
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
