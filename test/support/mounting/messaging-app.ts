import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { type Adapter, type AppSetup, type RunningApp, startApp } from '../http/http-apps.js';

/** Options of a service for tests: the home market is Burkina Faso, in memory, on the sandbox. */
export const OPTIONS: MessagingOptions = {
  storage: MemoryStorage,
  signatures: ['INFOS', 'ALERTE', 'SERVICE'],
  sms: { tariff: { base: 1, international: 3, home: 'BF', countries: { SN: 2 }, prefixes: { '22177': 3 } } },
};

/** A running service with one account that has units and a key. */
export interface MessagingApp extends RunningApp {
  readonly accountId: string;
  readonly key: string;
}

/** Starts a service; `imports` are further modules of the host. */
export async function startMessaging(
  adapter: Adapter,
  options: Partial<MessagingOptions> = {},
  { imports = [], units = 1000, ...setup }: AppSetup & { imports?: (Type | DynamicModule)[]; units?: number } = {},
): Promise<MessagingApp> {
  @Module({ imports: [MessagingModule.forRoot({ ...OPTIONS, ...options }), ...imports] })
  class Host {}
  const running = await startApp(Host, adapter, setup);
  const accounts = running.app.get(AccountService, { strict: false });
  const { id: accountId } = await accounts.createAccount({ name: 'Test' });
  const { key } = await accounts.issueKey(accountId);
  if (units > 0) await running.app.get(LedgerService, { strict: false }).topUp(accountId, units);
  return { ...running, accountId, key };
}
