import type { IncomingHttpHeaders } from 'node:http';

/** The longest `Cookie` header that is read, in characters. A host may accept longer headers. */
const MAX_LENGTH = 16_384;

/** Returns the values of a cookie (RFC 6265 section 5.4). The value with the longest path comes first. */
export function cookiesOf({ cookie = '' }: IncomingHttpHeaders, name: string): readonly string[] {
  if (cookie.length > MAX_LENGTH) return [];
  const start = `${name}=`;
  return cookie
    .split(';')
    .map((pair) => pair.trim())
    .flatMap((pair) => (pair.startsWith(start) ? [pair.slice(start.length)] : []));
}

/**
 * Returns a `Set-Cookie` header. It has no path, so the browser takes the path of the request as it sees it, even if a proxy
 * rewrites paths.
 *
 * @param seconds for how many seconds the cookie is kept. 0 removes it
 */
export function setCookie(name: string, value: string, seconds: number, { origin }: IncomingHttpHeaders): string {
  const secure = isLoopback(origin) ? '' : ' Secure;';
  return `${name}=${value}; Max-Age=${seconds}; HttpOnly;${secure} SameSite=Strict`;
}

/**
 * Whether the page is served from this machine without TLS. The browser says so in `Origin`, which it sends with every POST.
 * Unlike `Host`, no proxy rewrites this header.
 */
function isLoopback(origin: string | undefined): boolean {
  return /^http:\/\/(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(origin ?? '');
}
