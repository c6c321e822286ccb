import { randomInt } from 'node:crypto';
import type { CampaignQuote, CampaignView, ImportResult } from '../../../src/campaigns/campaign.api.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import type { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../common/eventually.js';
import type { ApiClient } from '../http/api-client.js';
import type { Adapter } from '../http/http-apps.js';
import { OPTIONS } from '../mounting/messaging-app.js';
import { clientOf, mount } from '../mounting/mounted.js';
import { ScriptedTransport } from '../outbox/scripted-transport.js';

/** A service with campaigns, whose SMS go to a carrier that the test controls. */
export async function startCampaigns(adapter: Adapter, options: Partial<MessagingOptions> = {}, units = 10_000) {
  const transport = new ScriptedTransport();
  const messaging = MessagingModule.forRoot({
    ...OPTIONS,
    dispatch: { pollMs: 20 },
    campaigns: {},
    ...options,
    sms: { ...OPTIONS.sms, transport: { useFactory: () => transport }, ...options.sms },
  });
  const running = await mount(adapter, [messaging]);
  const client = await clientOf(running, { units });
  return { ...running, transport, client, campaigns: new CampaignCalls(client) };
}

/** The routes of campaigns, as a caller uses them. Each call fails if the answer is no success. */
export class CampaignCalls {
  constructor(private readonly client: ApiClient) {}

  create(body: object = {}): Promise<CampaignView> {
    return this.post('campaigns', { name: 'Soldes', signature: 'INFOS', content: 'Bonjour', ...body });
  }

  get(id: string): Promise<CampaignView> {
    return this.answer(this.client.call(`campaigns/${id}`));
  }

  list(id: string, numbers: readonly string[]): Promise<ImportResult> {
    return this.post(`campaigns/${id}/recipients`, { to: numbers.map((number) => ({ number })) });
  }

  /** Sends a file of CSV. */
  file(id: string, text: string | Uint8Array, query = '') {
    return this.client.call(`campaigns/${id}/recipients${query}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: text,
    });
  }

  csv(id: string, text: string | Uint8Array, query = ''): Promise<ImportResult> {
    return this.answer(this.file(id, text, query));
  }

  quote(id: string): Promise<CampaignQuote> {
    return this.post(`campaigns/${id}/quote`);
  }

  act(id: string, action: 'start' | 'pause' | 'resume' | 'cancel'): Promise<CampaignView> {
    return this.post(`campaigns/${id}/${action}`);
  }

  /** Waits until a campaign has a state. With a clock, time passes meanwhile. */
  until(
    id: string,
    is: (campaign: CampaignView) => boolean,
    pace: { readonly clock?: FakeClock; readonly stepMs?: number } = {},
  ): Promise<CampaignView> {
    return eventually(() => this.get(id), is, pace);
  }

  private post<T>(path: string, body: object = {}): Promise<T> {
    return this.answer(this.client.post(path, body));
  }

  private async answer<T>(reply: Promise<{ readonly status: number; readonly body: unknown }>): Promise<T> {
    const { status, body } = await reply;
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body as T;
  }
}

/** Different numbers of the home market. */
export function homeNumbers(count: number): readonly string[] {
  const first = 22_670_000_000 + randomInt(1000) * 1000;
  return Array.from({ length: count }, (_, index) => String(first + index));
}
