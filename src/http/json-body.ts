import { isUtf8 } from 'node:buffer';
import { MessagingError } from '../common/errors.js';
import type { BodyBytes } from './body-reader.js';
import { JsonStructure } from './json-structure.js';

/** A request's body as parsed. */
export type JsonObject = Record<string, unknown>;

/**
 * Takes in a body that must be one JSON object; nothing at all stands for `{}`. Each piece is checked and decoded when it comes,
 * so that only parsing is left for the end. Bytes that are no UTF-8 are refused rather than replaced: they would end up as `�`
 * in an SMS. A byte order mark is ignored (RFC 8259 section 8.1).
 */
export class JsonBody implements BodyBytes {
  readonly #structure: JsonStructure;
  #text = '';
  /** The first bytes of a character whose last ones have not come yet. */
  #rest = Buffer.alloc(0);

  /** @param maxStructure how many of `{`, `[`, `,` and `:` the body may have outside its strings */
  constructor(maxStructure: number) {
    this.#structure = new JsonStructure(maxStructure);
  }

  /** @throws MessagingError `error.malformed_json`, `error.request_invalid` for too much structure */
  write(bytes: Buffer): void {
    this.#structure.read(bytes);
    const joined = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const end = endOfWholeCharacters(joined);
    const whole = joined.subarray(0, end);
    if (!isUtf8(whole)) throw new MessagingError('error.malformed_json');
    this.#text += whole.toString('utf8');
    this.#rest = Buffer.from(joined.subarray(end));
  }

  /** @throws MessagingError `error.malformed_json`, `error.body_not_object` */
  end(): JsonObject {
    if (this.#rest.length > 0) throw new MessagingError('error.malformed_json');
    const text = this.#text;
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
