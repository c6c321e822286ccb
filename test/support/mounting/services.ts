import { afterAll, describe } from '@jest/globals';
import type { DynamicModule, Type } from '@nestjs/common';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { ApiClient } from '../http/api-client.js';
import { type Adapter, type AppSetup, ONE_ADAPTER } from '../http/http-apps.js';
import { type MessagingApp, startMessaging } from './messaging-app.js';

/** The set-up on which a suite runs. */
export interface Ground {
  readonly adapter: Adapter;
}

/** A running service, which creates accounts for tests. */
export interface Service extends MessagingApp {
  /** A new account with a key and this many units. */
  client(units?: number): Promise<ApiClient>;
}

export type StartService = (
  options?: Partial<MessagingOptions>,
  setup?: AppSetup & { imports?: (Type | DynamicModule)[] },
) => Promise<Service>;

/** The suite on Express and on Fastify. Everything that it starts is stopped after its last test. */
export function describeServices(name: string, suite: (start: StartService, ground: Ground) => void): void {
  onEach(['express', 'fastify'], name, suite);
}

/** The same on one adapter, for behaviour below the routes. Other suites test the routes on both. */
export function describeService(name: string, suite: (start: StartService, ground: Ground) => void): void {
  onEach([ONE_ADAPTER], name, suite);
}

function onEach(adapters: readonly Adapter[], name: string, suite: (start: StartService, ground: Ground) => void) {
  describe.each<Ground>(adapters.map((adapter) => ({ adapter })))(`${name} ($adapter)`, (ground) => {
    const services: Service[] = [];
    suite(async (options = {}, setup = {}) => {
      const service = await startService(ground.adapter, options, setup);
      services.push(service);
      return service;
    }, ground);
    afterAll(async () => {
      for (const service of services.splice(0)) await service.close();
    });
  });
}

/** Starts one service; the caller closes it. */
export async function startService(
  adapter: Adapter,
  options: Partial<MessagingOptions> = {},
  setup: AppSetup & { imports?: (Type | DynamicModule)[] } = {},
): Promise<Service> {
  const running = await startMessaging(adapter, options, { ...setup, units: 0 });
  const accounts = running.app.get(AccountService, { strict: false });
  const ledger = running.app.get(LedgerService, { strict: false });
  return {
    ...running,
    client: async (units = 1000) => {
      const { id } = await accounts.createAccount({ name: 'Test' });
      if (units > 0) await ledger.topUp(id, units);
      const { key } = await accounts.issueKey(id);
      return new ApiClient(`${running.url}/${options.path ?? 'api/v1'}`, id, key);
    },
  };
}
