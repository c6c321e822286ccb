/** A value at a path of names in a parsed body; undefined if there is none. Only own properties count. */
export function at(body: unknown, ...path: readonly string[]): unknown {
  let value = body;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}

/** A text that is not blank; undefined for any other value. */
export function textAt(body: unknown, ...path: readonly string[]): string | undefined {
  const value = at(body, ...path);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A text, or an integer as text: some systems send numbers and codes as JSON numbers. */
export function wordAt(body: unknown, ...path: readonly string[]): string | undefined {
  const value = at(body, ...path);
  return Number.isSafeInteger(value) ? String(value) : textAt(body, ...path);
}

/** A code as log-in systems make them: 3 to 32 letters, digits and hyphens. Undefined for any other value. */
export function codeAt(body: unknown, ...path: readonly string[]): string | undefined {
  const value = wordAt(body, ...path);
  return value !== undefined && /^[A-Za-z0-9-]{3,32}$/.test(value) ? value : undefined;
}

/** The names of a JSON pointer (RFC 6901); undefined if it is malformed. */
export function pointerNames(pointer: string): readonly string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The shortest and the longest validity that a call may give, in seconds. */
const MIN_VALID_SECONDS = 5;
const MAX_VALID_SECONDS = 86_400;

/** A validity in seconds, within its limits; undefined for a value that is no number. */
export function validityOf(seconds: unknown): number | undefined {
  const value = typeof seconds === 'string' && /^\d{1,9}$/.test(seconds) ? Number(seconds) : seconds;
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return undefined;
  return Math.min(Math.max(Math.floor(value), MIN_VALID_SECONDS), MAX_VALID_SECONDS);
}
