import type { AccountRole, OperatorRole } from '../../../src/accounts/keys/permissions.js';
import { UserTokenVerifier, type VerifiedUser } from '../../../src/accounts/users/user-token-verifier.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { type Call, call, type Reply } from '../http/http-client.js';

/** Accepts every token that {@link tokenOf} makes. */
class TrustedTokens extends UserTokenVerifier {
  override readonly operators = true;

  override async verify(token: string): Promise<VerifiedUser | undefined> {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  }
}

/** The options of a service with the management API, whose users come from {@link tokenOf}. */
export const MANAGED: Partial<MessagingOptions> = {
  userTokens: { useFactory: () => new TrustedTokens() },
  management: { secret: 'a secret of access tokens, for tests only' },
};

function tokenOf(user: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(user)}.x`;
}

/** One user's view of a service's HTTP interface. */
export class UserClient {
  private readonly token: string;

  /** @param url where our routes start: `http://127.0.0.1:<port>/api/v1` */
  constructor(
    readonly url: string,
    user: object,
  ) {
    this.token = tokenOf(user);
  }

  call(path: string, { headers, ...rest }: Call = {}): Promise<Reply> {
    return call(`${this.url}/${path}`, { ...rest, headers: { authorization: `Bearer ${this.token}`, ...headers } });
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.call(path, { method: 'POST', body, headers });
  }

  delete(path: string): Promise<Reply> {
    return this.call(path, { method: 'DELETE' });
  }

  /** Fails the test if the answer is not a 200. */
  async read<T>(path: string): Promise<T> {
    const { status, body } = await this.call(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body as T;
  }
}

/** A user of an account in a role. */
export function userOf(url: string, accountId: string, role: AccountRole): UserClient {
  return new UserClient(`${url}/api/v1`, { accountId, subject: `${role}@example.com`, role });
}

/** A user of the operator in a role. */
export function operatorOf(url: string, role: OperatorRole): UserClient {
  return new UserClient(`${url}/api/v1`, { subject: `${role}@operator.example.com`, role });
}

/** A user of an account without a role. */
export function plainUserOf(url: string, accountId: string): UserClient {
  return new UserClient(`${url}/api/v1`, { accountId });
}
