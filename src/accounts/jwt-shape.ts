const BASE64URL = /^[A-Za-z0-9_-]*$/;

/**
 * Whether a text is built like a JWT (RFC 7519): three segments (JWS compact serialisation, RFC 7515 section 7.1; the last
 * may be empty for `alg: none`) or five (JWE, RFC 7516 section 7.1; the second is empty for direct encryption), the first
 * of which is a JSON object with a string `alg`. Says nothing about its validity.
 */
export function looksLikeJwt(text: string): boolean {
  const segments = text.split('.', 6);
  if (!segments.every((segment) => BASE64URL.test(segment))) return false;
  const [header, second] = segments;
  if (!header) return false;
  if (segments.length === 3 ? !second : segments.length !== 5) return false;
  return namesAlgorithm(header);
}

function namesAlgorithm(header: string): boolean {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
    return typeof parsed === 'object' && parsed !== null && 'alg' in parsed && typeof parsed.alg === 'string';
  } catch {
    return false;
  }
}
