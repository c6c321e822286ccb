import { Caller, type ClientOptions } from '../caller.js';
import { AccountRoutes } from './account-routes.js';
import { OperatorRoutes } from './operator-routes.js';
import { SessionRoutes } from './session-routes.js';

/** Options of a {@link ManagementClient}. */
export interface ManagementClientOptions extends Omit<ClientOptions, 'apiKey'> {
  /** The account that an operator works on. Default: the user's own account. */
  readonly account?: string | undefined;
}

/**
 * The API for people: sign-in, the account's keys, sender names and ledger, and the operator's routes. It throws the same errors
 * as `MessagingClient`.
 *
 * ```ts
 * const manage = new ManagementClient({ baseUrl: 'https://api.example.com/api/v1', token: async () => accessToken });
 * for await (const { name, last_used_at } of manage.account.keys()) console.log(name, last_used_at);
 * ```
 */
export class ManagementClient {
  readonly session: SessionRoutes;
  readonly account: AccountRoutes;
  readonly operator: OperatorRoutes;

  constructor({ account, ...options }: ManagementClientOptions) {
    const caller = new Caller(options);
    this.session = new SessionRoutes(caller);
    this.account = new AccountRoutes(account === undefined ? caller : new Caller({ ...options, account }));
    this.operator = new OperatorRoutes(caller);
  }
}
