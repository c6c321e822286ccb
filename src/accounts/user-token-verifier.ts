/**
 * Accepts the host's own user tokens in `Authorization: Bearer <JWT>`. Optional: without one, every JWT is a 401. It is
 * asked only when the request has no `X-Api-Key` and the credential is built like a JWT.
 */
export abstract class UserTokenVerifier {
  /**
   * Whose token it is; undefined when it is not valid (forged, expired, for somebody else), which gives a 401. The
   * verifier checks everything, the signature first. Throw only when it cannot tell: that is an unexpected fault, a 500.
   */
  abstract verify(token: string): Promise<{ readonly accountId: string } | undefined>;
}
