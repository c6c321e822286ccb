import type { IncomingHttpHeaders } from 'node:http';
import type { AccountRole, OperatorRole } from '../../accounts/keys/permissions.js';
import { booleanIfAny, describePort, method } from '../../common/port.js';

/** A user of the host, who belongs to an account or to the operator. */
export type AuthenticatedUser =
  | { readonly subject: string; readonly account: string; readonly role: AccountRole }
  | { readonly subject: string; readonly account?: undefined; readonly role: OperatorRole };

/** The data of a sign-in besides the credentials. */
export interface SignInRequest {
  /** The client's address, as the framework gives it. */
  readonly address: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Signs in the host's own users. `POST /session/exchange` calls it for requests with `credentials`. Before that, wrong attempts
 * are limited by address. If you need a limit per person, implement it here.
 *
 * @example
 * ```ts
 * @Injectable()
 * class Staff extends UserAuthenticator {
 *   constructor(private readonly people: People) { super(); }
 *   async authenticate(credentials: unknown) {
 *     const person = await this.people.byTicket(credentials);
 *     return person && { subject: person.id, account: person.customerId, role: 'admin' as const };
 *   }
 * }
 * ```
 */
export abstract class UserAuthenticator {
  /**
   * Returns the user of these credentials. Undefined if they are wrong, which is answered with a 401.
   *
   * @param credentials any JSON value of the caller, unchecked
   * @throws any error if the credentials cannot be checked. It is logged as a fault and answered with 500
   */
  abstract authenticate(credentials: unknown, request: SignInRequest): Promise<AuthenticatedUser | undefined>;

  /** Whether users may have roles of the operator. Default false: a user with such a role gets a 401. */
  readonly operators?: boolean;
}

describePort(UserAuthenticator, { authenticate: method, operators: booleanIfAny });
