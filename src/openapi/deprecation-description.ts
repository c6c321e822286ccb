import type { AccountSettings } from '../accounts/account-options.js';
import { deprecationHeaders } from '../accounts/authentication-headers.js';
import type { Header, Headers } from './openapi-document.js';

interface Meaning {
  readonly description: string;
  readonly pattern: string;
}

const MEANING: ReadonlyMap<string, Meaning> = new Map([
  ['Deprecation', { description: 'Since when that is deprecated (RFC 9745), in Unix seconds.', pattern: '^@\\d+$' }],
  ['Sunset', { description: 'When that will no longer be accepted (RFC 8594).', pattern: ' GMT$' }],
  ['Link', { description: 'A page that explains the change (RFC 9745).', pattern: 'rel="deprecation"' }],
]);

/** The headers on answers to a caller whose key came in `Authorization: Bearer`; only those that the host has set. */
export function deprecationHeaderDescriptions(accounts: AccountSettings): Headers {
  const headers: Record<string, Header> = {};
  for (const [name, example] of Object.entries(deprecationHeaders(accounts))) {
    const { description = '', pattern = '' } = MEANING.get(name) ?? {};
    headers[name] = {
      description: `Only if the API key came in \`Authorization: Bearer\`. ${description}`,
      schema: { type: 'string', pattern, example },
    };
  }
  return headers;
}
