import { type UserTokenVerifier, type VerifiedUser } from '../../../src/accounts/users/user-token-verifier.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import { type Adapter, type RunningApp, startApp } from '../http/http-apps.js';
import { type Call, call, type Reply } from '../http/http-client.js';
import { OPTIONS } from '../mounting/messaging-app.js';
import { alsoUnmount } from '../mounting/mounted.js';

/** A secret for tests. */
export const MANAGEMENT_SECRET = 'a secret of the management API, for tests';

/** Accepts every token. Its payload is the user. */
const BELIEVING: UserTokenVerifier = {
  operators: true,
  verify: async (token) => {
    const user: VerifiedUser = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return user;
  },
};

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The headers of a user. */
export function asUser(user: VerifiedUser): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${encoded({ alg: 'ES256' })}.${encoded(user)}.signed` };
}

/** A user's view of a service. */
export class UserClient {
  constructor(
    readonly url: string,
    readonly user: VerifiedUser,
  ) {}

  call(path: string, { headers, ...rest }: Call = {}): Promise<Reply> {
    return call(`${this.url}/${path}`, { ...rest, headers: { ...asUser(this.user), ...headers } });
  }

  post(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.call(path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
  }

  /** The fields of an answer. Fails if it is not a 200. */
  async read<T>(path: string): Promise<T> {
    const { status, body } = await this.call(path);
    if (status !== 200) throw new Error(`No ${path}: ${JSON.stringify(body)}`);
    return body as T;
  }

  /** The same for a POST. */
  async done<T>(path: string, body?: unknown): Promise<T> {
    const reply = await this.post(path, body);
    if (reply.status !== 200) throw new Error(`No ${path}: ${JSON.stringify(reply.body)}`);
    return reply.body as T;
  }
}

/** A service with the management API whose users say who they are. */
export async function startManage(
  adapter: Adapter,
  options: Partial<MessagingOptions> = {},
  { clock = new FakeClock(), storage = new SqliteMemory() } = {},
) {
  class Host {}
  const messaging = MessagingModule.forRoot({
    ...OPTIONS,
    storage: { useFactory: () => storage },
    clock: { useFactory: () => clock },
    userTokens: { useValue: BELIEVING },
    management: { secret: MANAGEMENT_SECRET },
    ...options,
  });
  const app: RunningApp = alsoUnmount(await startApp({ module: Host, imports: [messaging] }, adapter));
  const url = `${app.url}/${options.path ?? 'api/v1'}`;
  const as = (user: VerifiedUser) => new UserClient(url, user);
  return {
    ...app,
    clock,
    storage,
    as,
    support: as({ subject: 'sam', role: 'support' }),
    finance: as({ subject: 'fatou', role: 'finance' }),
    operator: as({ subject: 'odile', role: 'operator' }),
  };
}
