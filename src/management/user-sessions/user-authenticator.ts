import type { IncomingHttpHeaders } from 'node:http';
import type { AccountRole, OperatorRole } from '../../accounts/keys/permissions.js';
import { booleanIfAny, describePort, method } from '../../common/port.js';

/** A user of the host: of an account, or of the operator. */
export type AuthenticatedUser =
  | { readonly subject: string; readonly account: string; readonly role: AccountRole }
  | { readonly subject: string; readonly account?: undefined; readonly role: OperatorRole };

/** What a sign-in says about itself beside the credentials. */
export interface SignInRequest {
  /** The client's address, as the framework has it. */
  readonly address: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * Signs in the host's own users: asked by `POST /session/exchange` with `credentials`. Wrong attempts are
 * limited by address before it is asked; a limit by person is its own.
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
   * The user of these credentials; undefined when they are wrong, which is a 401.
   *
   * @param credentials any JSON value of the caller, unchecked
   * @throws any error when they cannot be checked; it is logged as a fault and answered with 500
   */
  abstract authenticate(credentials: unknown, request: SignInRequest): Promise<AuthenticatedUser | undefined>;

  /** Whether the roles of the operator are believed. Default false: a user with one is a 401. */
  readonly operators?: boolean;
}

describePort(UserAuthenticator, { authenticate: method, operators: booleanIfAny });
