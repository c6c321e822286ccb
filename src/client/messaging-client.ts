import type { Balance } from '../billing/balance.api.js';
import { Caller, type CallOptions, type ClientOptions } from './caller.js';
import { CampaignRoutes } from './campaigns.js';
import { EventRoutes } from './events.js';
import { LoginHookRoutes } from './hooks.js';
import { MsgappRoutes } from './msgapp.js';
import { OtpRoutes } from './otp.js';
import { SmsRoutes } from './sms.js';
import { TemplateRoutes } from './templates.js';
import { WebhookRoutes } from './webhooks.js';

/**
 * The API of a service, for Node.js and browsers, without dependencies. If the service refuses a call, the call throws a
 * `MessagingApiError`. If the service cannot be reached, the call throws one when its attempts or its time are used up.
 *
 * ```ts
 * const client = new MessagingClient({ baseUrl: 'https://api.example.com/api/v1', apiKey });
 * const { smsID } = await client.sms.send({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
 * ```
 */
export class MessagingClient {
  readonly #caller: Caller;
  readonly sms: SmsRoutes;
  readonly otp: OtpRoutes;
  readonly templates: TemplateRoutes;
  readonly events: EventRoutes;
  readonly webhooks: WebhookRoutes;
  readonly hooks: LoginHookRoutes;
  readonly campaigns: CampaignRoutes;

  /** @throws TypeError for an `apiKey` in a browser, or for an `apiKey` together with a `token` */
  constructor(options: ClientOptions) {
    const caller = new Caller(options);
    this.#caller = caller;
    this.sms = new SmsRoutes(caller);
    this.otp = new OtpRoutes(caller);
    this.templates = new TemplateRoutes(caller);
    this.events = new EventRoutes(caller);
    this.webhooks = new WebhookRoutes(caller);
    this.hooks = new LoginHookRoutes(caller);
    this.campaigns = new CampaignRoutes(caller);
  }

  balance(options?: CallOptions): Promise<Balance> {
    return this.#caller.json({ path: ['balance'] }, options);
  }

  /** @param channel the channel's name in the service's options */
  msgapp(channel = 'msgapp'): MsgappRoutes {
    return new MsgappRoutes(this.#caller, channel);
  }
}
