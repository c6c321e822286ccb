import { isUtf8 } from 'node:buffer';
import { MessagingError } from '../common/errors.js';
import { nestsDeeperThan } from './json-depth.js';

/** A request's body as parsed. */
export type JsonObject = Record<string, unknown>;

/** A request of ours has two levels; more than these are refused, as RFC 8259 section 9 allows. */
const DEEPEST = 1000;

/**
 * Parses a body that must be one JSON object; nothing at all stands for `{}`. Bytes that are no UTF-8 are refused rather
 * than replaced: they would end up as `�` on somebody's phone. A byte order mark is passed over (RFC 8259 section 8.1).
 */
export function parseJsonBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0) return {};
  if (!isUtf8(bytes) || nestsDeeperThan(DEEPEST, bytes)) throw new MessagingError('error.malformed_json');
  const text = bytes.toString('utf8');
  return asJsonObject(parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text));
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
