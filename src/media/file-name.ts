/** The longest file name, in characters. Longer ones are shortened. */
const MAX_LENGTH = 120;

/** Control characters, and bidirectional controls, which can make `exe.jpg` look harmless. */
const UNWANTED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/** One parameter of `Content-Disposition` (RFC 6266 section 4.1). The required quotes may be missing. */
const PARAMETER = /\s*;\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"]*))/y;

/**
 * Returns the name of a fetched file: from `Content-Disposition`, `filename*` before `filename` (RFC 6266, RFC 8187),
 * else the last segment of the URL's path. The name has no directories and control characters, and at most 120
 * characters. Undefined if nothing remains.
 *
 * @param disposition the header with its bytes as Latin-1
 */
export function fileNameOf(disposition: string | undefined, url: URL): string | undefined {
  return cleanName(dispositionName(disposition ?? '')) ?? cleanName(unescaped(url.pathname.split('/').at(-1) ?? ''));
}

function dispositionName(header: string): string | undefined {
  const found = new Map<string, string>();
  PARAMETER.lastIndex = Math.max(header.indexOf(';'), 0);
  for (let match = PARAMETER.exec(header); match !== null; match = PARAMETER.exec(header)) {
    const [, name = '', quoted, bare = ''] = match;
    const value = quoted === undefined ? bare.trim() : quoted.replace(/\\(.)/g, '$1');
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return extended(found.get('filename*')) ?? utf8(found.get('filename'));
}

/** Decodes an extended value (RFC 8187 section 3.2): `UTF-8'en'%e2%82%ac.txt`. */
function extended(value: string | undefined): string | undefined {
  const [, charset, escaped] = /^([\w-]+)'[^']*'(.*)$/.exec(value ?? '') ?? [];
  if (charset === undefined || escaped === undefined) return undefined;
  if (/^utf-8$/i.test(charset)) return unescaped(escaped);
  return /^iso-8859-1$/i.test(charset)
    ? escaped.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : undefined;
}

/** Reads a value as UTF-8, because servers send UTF-8 although only Latin-1 is defined. */
function utf8(latin1: string | undefined): string | undefined {
  if (latin1 === undefined) return undefined;
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.includes('\u{fffd}') ? latin1 : text;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The last segment of a name, without control characters, at most 120 characters; undefined if nothing remains. */
export function cleanName(name: string | undefined): string | undefined {
  const last = (name ?? '').split(/[/\\]/).at(-1) ?? '';
  const clean = bounded(last.replace(UNWANTED, '').trim()).replace(/^[. ]+|[. ]+$/g, '');
  return clean === '' ? undefined : clean;
}

/** Shortens a long name in the middle, because the extension is at its end. */
function bounded(name: string): string {
  const letters = [...name];
  if (letters.length <= MAX_LENGTH) return name;
  const end = /\.\w{1,10}$/.exec(name)?.[0] ?? '';
  return `${letters.slice(0, MAX_LENGTH - end.length).join('')}${end}`;
}
