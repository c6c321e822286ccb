import type { AccountState } from '../../../src/accounts/account.api.js';
import { AccountDirectory } from '../../../src/accounts/account-directory.js';
import { AccountService, type IssueKeyCallOptions } from '../../../src/accounts/account-service.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { type StoredAuditEntry } from '../../../src/accounts/audit/audit-entry.js';
import type { AccountRole, OperatorRole } from '../../../src/accounts/keys/permissions.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import { ApiClient } from '../http/api-client.js';
import type { Adapter, AppSetup } from '../http/http-apps.js';
import { type Call, call, type Reply } from '../http/http-client.js';
import { OPTIONS } from '../mounting/messaging-app.js';
import { clientOf, mount } from '../mounting/mounted.js';
import { MSGAPP } from '../msgapp/msgapp-app.js';
import { PEPPER } from '../otp/otp-app.js';
import { KeyedHost } from './accounts-host.js';
import { asUser, TestUsers } from './users.js';

/** A service with everything mounted, whose users and time the test controls. */
export async function startKeys(adapter: Adapter, options: Partial<MessagingOptions> = {}, setup: AppSetup = {}) {
  const [clock, storage] = [new FakeClock(), new SqliteMemory()];
  const messaging = MessagingModule.forRoot({
    ...OPTIONS,
    storage: { useFactory: () => storage },
    clock: { useFactory: () => clock },
    userTokens: TestUsers,
    management: { secret: 'a secret of the management API, for tests' },
    webhooks: { pepper: PEPPER },
    hooks: { pepper: PEPPER },
    campaigns: {},
    msgapp: MSGAPP,
    otp: { pepper: PEPPER },
    ...options,
  });
  const app = await mount(adapter, [messaging], { ...setup, host: { controllers: [KeyedHost] } });
  const client = await clientOf(app, { units: 1000 });
  const accounts = app.app.get(AccountService, { strict: false });
  const { accountId } = client;
  return {
    ...app,
    clock,
    storage,
    client,
    accounts,
    accountId,
    /** A client with a key that has these limits. */
    keyed: async (limits: IssueKeyCallOptions): Promise<ApiClient & { readonly id: string }> => {
      const { key, id } = await accounts.issueKey(accountId, limits);
      return Object.assign(new ApiClient(client.url, accountId, key), { id });
    },
    /** Sends a request as a user of the account. */
    as: (role: AccountRole, path: string, asked: Call = {}, subject = 'ann'): Promise<Reply> =>
      call(`${client.url}/${path}`, {
        ...asked,
        headers: { ...asUser({ accountId, subject, role }), ...asked.headers },
      }),
    /** Sends a request as one of the operator's users. */
    operator: (role: OperatorRole, path: string, asked: Call = {}): Promise<Reply> =>
      call(`${client.url}/${path}`, { ...asked, headers: { ...asUser({ subject: 'olga', role }), ...asked.headers } }),
    /** Sets the state of the account, as another process would, which has notified this one. */
    put: (state: AccountState): void => {
      storage.database.prepare('UPDATE messaging_account SET state = ? WHERE id = ?').run(state, accountId);
      app.app.get(AccountDirectory, { strict: false }).forget(accountId);
    },
    /** The audit log of the account, oldest first. */
    audit: async (): Promise<readonly StoredAuditEntry[]> => {
      const log = app.app.get(AuditLog, { strict: false });
      return (await log.list({ accountId, limit: 100 })).items.toReversed();
    },
  };
}
