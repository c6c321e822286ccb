/** The `WWW-Authenticate` header of every 401 (RFC 9110 section 11.6.1); the scheme is our own, none is registered for keys. */
export const CHALLENGE = 'ApiKey realm="messaging"';
