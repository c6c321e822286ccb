import type { AccountSettings } from '../account-options.js';

/**
 * The headers for a caller whose key came in `Authorization: Bearer`: `Deprecation` (RFC 9745 section 2.1, a structured
 * date in Unix seconds), and, if configured, `Sunset` (RFC 8594 section 3, an HTTP date) and `Link` (RFC 9745 section
 * 3.1). They announce the end of that way to send a key, not of the resource.
 */
export function deprecationHeaders({ legacyBearer }: Pick<AccountSettings, 'legacyBearer'>): Record<string, string> {
  if (legacyBearer === false) return {};
  const headers: Record<string, string> = { Deprecation: `@${Math.floor(legacyBearer.deprecatedAt / 1000)}` };
  if (legacyBearer.sunset !== undefined) headers.Sunset = new Date(legacyBearer.sunset).toUTCString();
  if (legacyBearer.link !== undefined) headers.Link = `<${legacyBearer.link}>; rel="deprecation"`;
  return headers;
}

/**
 * The `WWW-Authenticate` header of every 401 (RFC 9110 section 11.6.1). No scheme is registered for API keys, so the
 * scheme is our own.
 */
export const CHALLENGE = 'ApiKey realm="messaging"';
