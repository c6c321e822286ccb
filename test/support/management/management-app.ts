import type { DynamicModule } from '@nestjs/common';
import { type LinkDraft, ManagementService } from '../../../src/management/user-sessions/management-service.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import type { Adapter, AppSetup } from '../http/http-apps.js';
import { type Call, call, type Reply } from '../http/http-client.js';
import { OPTIONS } from '../mounting/messaging-app.js';
import { clientOf, mount } from '../mounting/mounted.js';

/** A secret for tests. */
export const MANAGEMENT_SECRET = 'a secret of the management API, for tests only';

/** The headers that a browser adds to a request from a page of the service itself. */
export const FROM_OUR_PAGE = { 'sec-fetch-site': 'same-origin', origin: 'https://desk.example.com' };

/** A browser: it keeps the cookies that it receives. */
export class Browser {
  readonly cookies = new Map<string, string>();
  /** The last `Set-Cookie` headers. */
  given: readonly string[] = [];

  /** @param url where our routes start */
  constructor(readonly url: string) {}

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async post(path: string, body: unknown = {}, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const cookie: Record<string, string> = this.cookies.size > 0 ? { cookie: this.cookie } : {};
    const reply = await call(`${this.url}/${path}`, {
      method: 'POST',
      body,
      headers: { ...FROM_OUR_PAGE, ...cookie, ...headers },
    });
    this.given = reply.headers.getSetCookie().flatMap((lines) => lines.split(', '));
    for (const line of this.given) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return reply;
  }

  /** Signs in and returns the access token. Fails if the answer is not a 200. */
  async signIn(body: object): Promise<string> {
    return tokenOf(await this.post('session/exchange', body));
  }
}

/** The access token of an answer. Fails if it is not a 200. */
export function tokenOf({ status, body }: Reply): string {
  if (status !== 200) throw new Error(`No session: ${JSON.stringify(body)}`);
  return (body as { access_token: string }).access_token;
}

/** Starts a service with the management API, whose time the test controls, and an account. */
export async function startManagement(
  adapter: Adapter,
  {
    management,
    imports = [],
    setup = {},
    clock = new FakeClock(),
    ...options
  }: Partial<Omit<MessagingOptions, 'clock'>> & {
    imports?: readonly DynamicModule[];
    setup?: AppSetup;
    clock?: FakeClock;
  } = {},
) {
  const storage = options.storage ?? { useFactory: () => new SqliteMemory() };
  const messaging = MessagingModule.forRoot({
    ...OPTIONS,
    clock: { useFactory: () => clock },
    ...options,
    storage,
    management: { secret: MANAGEMENT_SECRET, ...management },
  });
  const running = await mount(adapter, [messaging, ...imports], setup);
  const client = await clientOf(running, { path: options.path ?? 'api/v1' });
  const url = client.url;
  const service = running.app.get(ManagementService, { strict: false });
  return {
    ...running,
    client,
    clock,
    service,
    url,
    accountId: client.accountId,
    browser: () => new Browser(url),
    /** The secret of a new link, for the account unless the role is one of the operator. */
    link: async (draft: Partial<LinkDraft> = {}) =>
      (await service.link({ account: client.accountId, role: 'admin', ...draft })).secret,
    /** A request with a user's token. */
    as: (token: string, path: string, { headers, ...rest }: Call = {}) =>
      call(`${url}/${path}`, { ...rest, headers: { authorization: `Bearer ${token}`, ...headers } }),
  };
}
