/**
 * The credential of an `Authorization: Bearer <credential>` header (RFC 6750 section 2.1), undefined for anything else. The
 * scheme's case does not matter and one or more spaces may follow it (RFC 9110 section 11.4).
 */
export function bearerToken(authorization: unknown): string | undefined {
  return typeof authorization === 'string' ? /^bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
}
