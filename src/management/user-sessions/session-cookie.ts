import type { IncomingHttpHeaders } from 'node:http';

/** The longest `Cookie` header that is read, in characters; a host may let longer ones in. */
const MAX_LENGTH = 16_384;

/** The values of a cookie (RFC 6265 section 5.4), the one with the longest path first. */
export function cookiesOf({ cookie = '' }: IncomingHttpHeaders, name: string): readonly string[] {
  if (cookie.length > MAX_LENGTH) return [];
  const start = `${name}=`;
  return cookie
    .split(';')
    .map((pair) => pair.trim())
    .flatMap((pair) => (pair.startsWith(start) ? [pair.slice(start.length)] : []));
}

/**
 * A `Set-Cookie` header. Without a path: the browser takes that of the request, which a proxy may have rewritten.
 *
 * @param seconds how long it is kept; 0 removes it
 */
export function setCookie(name: string, value: string, seconds: number, { origin }: IncomingHttpHeaders): string {
  const secure = isLoopback(origin) ? '' : ' Secure;';
  return `${name}=${value}; Max-Age=${seconds}; HttpOnly;${secure} SameSite=Strict`;
}

/**
 * Whether the page is served from this machine without TLS. The browser itself says so in `Origin`, which it sends with every
 * POST and no proxy rewrites, unlike `Host`.
 */
function isLoopback(origin: string | undefined): boolean {
  return /^http:\/\/(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(origin ?? '');
}
