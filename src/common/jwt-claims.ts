import { isRecord } from './options.js';

/** The claims of a JWT. None of them is verified. Undefined if they cannot be read. */
export function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.', 2)[1] ?? '', 'base64url').toString());
    return isRecord(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}
