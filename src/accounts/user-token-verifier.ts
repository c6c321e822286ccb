import { describePort, method } from '../common/port.js';

/**
 * Verifies the host's own user tokens in `Authorization: Bearer <JWT>`. Optional: without a verifier, every JWT is a 401. It
 * is called only when the request has no `X-Api-Key` and the credential has the structure of a JWT.
 *
 * @example
 * ```ts
 * @Injectable()
 * class CustomerTokens extends UserTokenVerifier {
 *   constructor(private readonly customers: CustomerSessions) { super(); }
 *   async verify(token: string) {
 *     const customer = await this.customers.byToken(token);
 *     return customer && { accountId: customer.accountId };
 *   }
 * }
 * ```
 */
export abstract class UserTokenVerifier {
  /**
   * The account of a token; undefined when the token is invalid (forged, expired, for another audience), which is a 401. The
   * verifier checks everything, the signature first.
   * @throws any error when the token cannot be checked; it is logged as a fault and answered with 500
   */
  abstract verify(token: string): Promise<{ readonly accountId: string } | undefined>;
}

describePort(UserTokenVerifier, { verify: method });
