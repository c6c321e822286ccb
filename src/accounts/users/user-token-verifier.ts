import { booleanIfAny, describePort, method } from '../../common/port.js';
import type { AccountRole, OperatorRole } from '../keys/permissions.js';

/**
 * The user of a token. A user with only `{ accountId }` may use the routes that need no role: sends, codes, look-ups,
 * the balance. With `subject` and `role`, the user has the permissions of the role. A user with a role of the operator
 * has no account.
 */
export type VerifiedUser =
  | { readonly accountId: string; readonly subject?: undefined; readonly role?: undefined }
  | { readonly accountId: string; readonly subject: string; readonly role: AccountRole }
  | { readonly accountId?: undefined; readonly subject: string; readonly role: OperatorRole };

/**
 * Verifies the host's own user tokens in `Authorization: Bearer <JWT>` or `X-User-Token: <JWT>`. Optional: without a
 * verifier, every JWT is answered 401. The verifier is called only if the request has no `X-Api-Key` and the credential has
 * the structure of a JWT.
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
   * Returns the user of a token. Returns undefined if the token is invalid (forged, expired, for another audience),
   * which is a 401. The verifier must check everything, and the signature first.
   * @throws any error if the token cannot be checked; it is logged as a fault and answered with 500
   */
  abstract verify(token: string): Promise<VerifiedUser | undefined>;

  /** Whether this verifier may give roles of the operator. Default false: a request with such a token is answered 401. */
  readonly operators?: boolean;
}

describePort(UserTokenVerifier, { verify: method, operators: booleanIfAny });
