import { type DynamicModule, Module } from '@nestjs/common';
import { CAMPAIGN_OPTIONS } from '../campaigns/campaign-options.js';
import { CampaignsModule } from '../campaigns/campaigns.module.js';
import { MessagingOptionsError } from '../common/errors.js';
import { boolean, group } from '../common/options.js';
import { checkFactoryOptions, checkOptions, FACTORY_OPTIONS, oneOrMore } from '../core/check-options.js';
import { ConfiguredModule, configured } from '../core/configured-module.js';
import { CORE_FACTORY_OPTIONS, CORE_GRAPH_OPTIONS, type FactoryImports } from '../core/core-options.js';
import { LOGIN_HOOK_OPTIONS } from '../hooks/login-hook-options.js';
import { ManagementModule } from '../management/management.module.js';
import { MANAGEMENT_OPTIONS } from '../management/management-options.js';
import { MsgappModule } from '../msgapp/msgapp.module.js';
import { MSGAPP_OPTIONS } from '../msgapp/msgapp-options.js';
import { OtpModule } from '../otp/otp.module.js';
import { OTP_OPTIONS } from '../otp/otp-options.js';
import { SmsModule } from '../sms/sms.module.js';
import { SMS_OPTIONS } from '../sms/sms-options.js';
import { WEBHOOK_OPTIONS } from '../webhooks/webhook-options.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { MessagingCore } from './messaging-core.module.js';
import {
  MANAGEMENT_GRAPH_OPTIONS,
  type ManagementGraphOptions,
  type MessagingAsyncOptions,
  type MessagingOptions,
  MSGAPP_GRAPH_OPTIONS,
  type MsgappGraphOptions,
  SMS_GRAPH_OPTIONS,
  type SmsGraphOptions,
} from './module-options.js';

/** The whole service: SMS, and the other capabilities whose options are given. */
@Module({})
export class MessagingModule extends ConfiguredModule {
  /** @throws MessagingOptionsError if the application starts, with a sentence that names the wrong option */
  static forRoot(options: MessagingOptions): DynamicModule {
    const {
      sms,
      otp,
      msgapp = [],
      webhooks,
      hooks,
      campaigns,
      management,
    } = checkOptions(options, CORE_GRAPH_OPTIONS, CORE_FACTORY_OPTIONS, {
      sms: group({ ...SMS_GRAPH_OPTIONS, ...SMS_OPTIONS }),
      otp: group(OTP_OPTIONS),
      msgapp: oneOrMore(group({ ...MSGAPP_GRAPH_OPTIONS, ...MSGAPP_OPTIONS })),
      webhooks: group(WEBHOOK_OPTIONS),
      hooks: group(LOGIN_HOOK_OPTIONS),
      campaigns: group(CAMPAIGN_OPTIONS),
      management: group({ ...MANAGEMENT_GRAPH_OPTIONS, ...MANAGEMENT_OPTIONS }),
    });
    const core = MessagingCore.build(options, { useFactory: () => options });
    return mount(core, {
      sms,
      otp: otp !== undefined,
      msgapp: [msgapp].flat(),
      webhooks: webhooks !== undefined,
      hooks: hooks !== undefined,
      campaigns: campaigns !== undefined,
      management,
    });
  }

  /** As `forRoot`. Options that shape the module graph are given synchronously, the others by the factory. */
  static forRootAsync(options: MessagingAsyncOptions): DynamicModule {
    const { sms, otp, msgapp, webhooks, hooks, campaigns, management } = checkOptions(
      options,
      CORE_GRAPH_OPTIONS,
      FACTORY_OPTIONS,
      {
        sms: group(SMS_GRAPH_OPTIONS),
        otp: boolean,
        msgapp: oneOrMore(group(MSGAPP_GRAPH_OPTIONS)),
        webhooks: boolean,
        hooks: boolean,
        campaigns: boolean,
        management: group(MANAGEMENT_GRAPH_OPTIONS).besides((given) => typeof given === 'boolean'),
      },
    );
    const factory = checkFactoryOptions(
      options,
      {
        ...CORE_FACTORY_OPTIONS,
        sms: group(SMS_OPTIONS),
        otp: group(OTP_OPTIONS),
        msgapp: oneOrMore(group(MSGAPP_OPTIONS)),
        webhooks: group(WEBHOOK_OPTIONS),
        hooks: group(LOGIN_HOOK_OPTIONS),
        campaigns: group(CAMPAIGN_OPTIONS),
        management: group(MANAGEMENT_OPTIONS),
      },
      CORE_GRAPH_OPTIONS,
    );
    const { imports } = factory;
    const useFactory = async (...injected: unknown[]) => ofMounted(await factory.useFactory(...injected), options);
    return mount(MessagingCore.build(options, { ...factory, useFactory }), {
      sms: { ...sms, imports },
      otp: otp === true,
      msgapp: [msgapp ?? []].flat().map((channel) => ({ ...channel, imports })),
      webhooks: webhooks === true,
      hooks: hooks === true,
      campaigns: campaigns === true,
      management: management ? { ...(management !== true && management), imports } : undefined,
    });
  }
}

/**
 * Refuses options of a capability that is not mounted, because they would have no effect. The options are ignored without
 * an error if the option beside `useFactory` is `false`, or `[]` for `msgapp`.
 */
function ofMounted<V extends { readonly [K in Mountable]?: unknown }>(
  given: V,
  { otp, msgapp, webhooks, hooks, campaigns, management }: Pick<MessagingAsyncOptions, Mountable>,
): V {
  const unmounted = {
    ...(otp === undefined && { otp: given.otp }),
    ...(webhooks === undefined && { webhooks: given.webhooks }),
    ...(hooks === undefined && { hooks: given.hooks }),
    ...(campaigns === undefined && { campaigns: given.campaigns }),
    ...(management === undefined && { management: given.management }),
  };
  for (const [name, given] of Object.entries(unmounted)) {
    if (given !== undefined) {
      throw new MessagingOptionsError(
        `Option ${name} comes from the factory: write \`${name}: true\` beside useFactory.`,
      );
    }
  }
  if (msgapp === undefined && [given.msgapp ?? []].flat().length > 0) {
    throw new MessagingOptionsError(
      'Option msgapp comes from the factory: write `msgapp: {}` beside useFactory, or a list with one for each channel.',
    );
  }
  return given;
}

/** The capabilities that are mounted only if the host asks for them. */
type Mountable = 'otp' | 'msgapp' | 'webhooks' | 'hooks' | 'campaigns' | 'management';

interface Capabilities {
  readonly sms: (SmsGraphOptions & FactoryImports) | undefined;
  readonly otp: boolean;
  readonly msgapp: readonly (MsgappGraphOptions & FactoryImports)[];
  readonly webhooks: boolean;
  readonly hooks: boolean;
  readonly campaigns: boolean;
  readonly management: (ManagementGraphOptions & FactoryImports) | undefined;
}

function mount(
  core: DynamicModule,
  { sms, otp, msgapp, webhooks, hooks, campaigns, management }: Capabilities,
): DynamicModule {
  return {
    module: MessagingModule,
    providers: configured(MessagingModule),
    imports: [
      // Routers try routes in this order. OTP comes first, because it has the most requests and only two paths.
      ...(otp ? [OtpModule.feature(core)] : []),
      SmsModule.feature(core, sms),
      ...MsgappModule.features(core, msgapp),
      ...(webhooks ? [WebhooksModule.feature(core)] : []),
      ...(hooks ? [loginHooks(core)] : []),
      ...(campaigns ? [CampaignsModule.feature(core)] : []),
      ...(management ? [ManagementModule.feature(core, management)] : []),
    ],
  };
}

/** Loads the log-in hooks only for applications that mount them. Nest waits for the promise. */
async function loginHooks(core: DynamicModule): Promise<DynamicModule> {
  const { LoginHooksModule } = await import('../hooks/hooks.module.js');
  return LoginHooksModule.feature(core);
}
