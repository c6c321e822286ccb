import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { MediaNetwork } from '../../../src/media/address-guard.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { EndpointCalls, type ReplayWindow } from '../../../src/webhooks/calls/endpoint-calls.js';
import type { PingResult } from '../../../src/webhooks/endpoints/endpoint.api.js';
import type { Endpoint } from '../../../src/webhooks/endpoints/endpoint.js';
import { SqliteMemory } from '../databases/sqlite-memory.js';
import type { ApiClient } from '../http/api-client.js';
import type { Adapter } from '../http/http-apps.js';
import { startApp } from '../http/http-apps.js';
import { FakeNetwork } from '../media/fake-network.js';
import { OPTIONS } from '../mounting/messaging-app.js';
import { alsoUnmount, clientOf } from '../mounting/mounted.js';

/** A secret for tests. */
export const WEBHOOK_PEPPER = 'a pepper of webhooks, for tests only';

/** Records what it is asked to call. */
export class FakeCalls implements Pick<EndpointCalls, 'ping' | 'retry' | 'replay'> {
  readonly asked: unknown[] = [];
  /** The sequence numbers that are kept. */
  readonly kept = new Set<number>();

  async ping({ id }: Endpoint): Promise<PingResult> {
    this.asked.push(['ping', id]);
    return { status: 204, ms: 7, response: '' };
  }

  async retry({ id }: Endpoint, sequence: number): Promise<boolean> {
    this.asked.push(['retry', id, sequence]);
    return this.kept.has(sequence);
  }

  async replay({ id }: Endpoint, window: ReplayWindow): Promise<number> {
    this.asked.push(['replay', id, window]);
    return 3;
  }
}

/** A service with webhooks whose calls, network and time the test controls. */
export async function startWebhooks(
  adapter: Adapter,
  { webhooks, ...options }: Partial<MessagingOptions> = {},
  imports: readonly DynamicModule[] = [],
) {
  const [clock, network, calls, storage] = [new FakeClock(), new FakeNetwork(), new FakeCalls(), new SqliteMemory()];
  network.name('hooks.example.com', ['93.184.216.34']).name('inside.example.com', ['93.184.216.34', '10.0.0.1']);
  class Fakes {}
  Global()(Fakes);
  Module({
    providers: [
      { provide: MediaNetwork, useValue: network },
      { provide: EndpointCalls, useValue: calls },
    ],
    exports: [MediaNetwork, EndpointCalls],
  })(Fakes);
  const messaging = MessagingModule.forRoot({
    ...OPTIONS,
    storage: { useFactory: () => storage },
    clock: { useFactory: () => clock },
    webhooks: { pepper: WEBHOOK_PEPPER, ...webhooks },
    ...options,
  });
  const module = await Test.createTestingModule({ imports: [Fakes, messaging, ...imports] })
    .overrideProvider(EndpointCalls)
    .useValue(calls)
    .compile();
  const app = alsoUnmount(await startApp(module, adapter));
  const client = await clientOf(app);
  return { ...app, client, clock, network, calls, storage };
}

/** Creates an endpoint and returns the fields of the answer. */
export async function makeEndpoint(client: ApiClient, body: object = {}): Promise<{ id: string; secret: string }> {
  const reply = await client.post('webhooks', { url: 'https://hooks.example.com/in', ...body });
  if (reply.status !== 200) throw new Error(`No endpoint: ${JSON.stringify(reply.body)}`);
  return reply.body as { id: string; secret: string };
}
