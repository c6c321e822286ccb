import { afterEach } from '@jest/globals';
import type { DynamicModule, INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { ApiClient } from '../http/api-client.js';
import { type Adapter, type AppSetup, type RunningApp, startApp } from '../http/http-apps.js';

const running: RunningApp[] = [];

/** After each test, stops what `mount` has started. Call it once in a suite's file. */
export function unmountAfterEach(): void {
  afterEach(async () => {
    for (const app of running.splice(0)) await app.close();
  });
}

/** Starts a host that imports these modules. */
export async function mount(
  adapter: Adapter,
  imports: readonly (Type | DynamicModule)[],
  { host = {}, ...setup }: AppSetup & { readonly host?: Omit<ModuleMetadata, 'imports'> } = {},
): Promise<RunningApp> {
  class AppModule {}
  const app = await startApp({ module: AppModule, imports: [...imports], ...host }, adapter, setup);
  running.push(app);
  return app;
}

/** The same for an application that was made in another way. */
export function alsoUnmount(app: RunningApp): RunningApp {
  running.push(app);
  return app;
}

/** A new account of a running service, with a key and this many units. */
export async function clientOf(
  { app, url }: { readonly app: INestApplication; readonly url: string },
  { units = 10, path = 'api/v1' }: { readonly units?: number; readonly path?: string } = {},
): Promise<ApiClient> {
  const accounts = app.get(AccountService, { strict: false });
  const { id } = await accounts.createAccount({ name: 'Test' });
  if (units > 0) await app.get(LedgerService, { strict: false }).topUp(id, units);
  const { key } = await accounts.issueKey(id);
  return new ApiClient(`${url}/${path}`, id, key);
}
