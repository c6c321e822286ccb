import type { CampaignOptions } from '../campaigns/campaign-options.js';
import type { OptionalFields } from '../common/optional-fields.js';
import { type OptionsOf, unread } from '../common/options.js';
import type {
  CoreFactoryOptions,
  CoreGraphOptions,
  CoreOptions,
  OptionsFromFactory,
  OptionsSource,
  SharedCore,
} from '../core/core-options.js';
import { GivenOptions } from '../core/given-options.js';
import type { PortSource } from '../core/port-provider.js';
import type { LoginHookOptions } from '../hooks/login-hook-options.js';
import type { ManagementOptions } from '../management/management-options.js';
import type { UserAuthenticator } from '../management/user-sessions/user-authenticator.js';
import type { MsgappOptions } from '../msgapp/msgapp-options.js';
import type { MsgappTransport } from '../msgapp/msgapp-transport.js';
import type { OtpOptions } from '../otp/otp-options.js';
import type { SmsOptions } from '../sms/sms-options.js';
import type { SmsTransport } from '../sms/sms-transport.js';
import type { WebhookOptions } from '../webhooks/webhook-options.js';

/** Options of SMS that shape the module graph. */
export interface SmsGraphOptions {
  /** Carries SMS out of the process. Default: the sandbox. */
  readonly transport?: PortSource<SmsTransport> | undefined;
}

/** How the options of `SmsGraphOptions` are read. */
export const SMS_GRAPH_OPTIONS = { transport: unread } satisfies OptionsOf<SmsGraphOptions>;

/** Options of one messaging-app channel that shape the module graph. */
export interface MsgappGraphOptions extends Pick<MsgappOptions, 'channel'> {
  /** Links numbers and carries messages out of the process. Default: the sandbox. */
  readonly transport?: PortSource<MsgappTransport> | undefined;
}

/** How the options of `MsgappGraphOptions` are read. */
export const MSGAPP_GRAPH_OPTIONS = { channel: unread, transport: unread } satisfies OptionsOf<MsgappGraphOptions>;

/** Options of one messaging-app channel that a factory may return. */
export type MsgappFactoryOptions = Omit<MsgappOptions, 'channel'>;

/** Options of `SmsModule.forRoot`. */
export type SmsModuleOptions = (CoreOptions | SharedCore) & SmsGraphOptions & SmsOptions;
/** Options of `SmsModule.forRootAsync`. */
export type SmsModuleAsyncOptions = SmsGraphOptions &
  ((CoreGraphOptions & OptionsSource<CoreFactoryOptions & SmsOptions>) | (SharedCore & OptionsSource<SmsOptions>));
/** The options of one-time passcodes, below the name `otp`. */
export interface OtpFactoryOptions {
  readonly otp: OtpOptions;
}
/** Options of `OtpModule.forRoot`; with `sms`, SMS is mounted beside it. */
export type OtpModuleOptions = (
  | (CoreOptions & { readonly sms?: (SmsGraphOptions & SmsOptions) | undefined })
  | SharedCore
) &
  OtpFactoryOptions;
/** Options of `OtpModule.forRootAsync`. */
export type OtpModuleAsyncOptions =
  | (CoreGraphOptions & { readonly sms?: SmsGraphOptions | undefined } & OptionsSource<
        CoreFactoryOptions & OtpFactoryOptions & { readonly sms?: SmsOptions | undefined }
      >)
  | (SharedCore & OptionsSource<OtpFactoryOptions>);
/** Options of `MsgappModule.forRoot`. */
export type MsgappModuleOptions = (CoreOptions | SharedCore) & MsgappGraphOptions & MsgappOptions;
/** Options of `MsgappModule.forRootAsync`. */
export type MsgappModuleAsyncOptions = MsgappGraphOptions &
  (
    | (CoreGraphOptions & OptionsSource<CoreFactoryOptions & MsgappFactoryOptions>)
    | (SharedCore & OptionsSource<MsgappFactoryOptions>)
  );
/** The options of webhooks, below the name `webhooks`. */
export interface WebhookFactoryOptions {
  readonly webhooks: WebhookOptions;
}
/** Options of `WebhooksModule.forRoot`. */
export type WebhooksModuleOptions = SharedCore & WebhookFactoryOptions;
/** Options of `WebhooksModule.forRootAsync`. */
export type WebhooksModuleAsyncOptions = SharedCore & OptionsSource<WebhookFactoryOptions>;
/** The options of log-in hooks, below the name `hooks`. */
export interface LoginHookFactoryOptions {
  readonly hooks: LoginHookOptions;
}
/** Options of `LoginHooksModule.forRoot`. */
export type LoginHooksModuleOptions = SharedCore & LoginHookFactoryOptions;
/** Options of `LoginHooksModule.forRootAsync`. */
export type LoginHooksModuleAsyncOptions = SharedCore & OptionsSource<LoginHookFactoryOptions>;
/** The options of campaigns, below the name `campaigns`. */
export interface CampaignFactoryOptions {
  readonly campaigns: CampaignOptions;
}
/** Options of `CampaignsModule.forRoot`. */
export type CampaignsModuleOptions = SharedCore & CampaignFactoryOptions;
/** Options of `CampaignsModule.forRootAsync`. */
export type CampaignsModuleAsyncOptions = SharedCore & OptionsSource<CampaignFactoryOptions>;
/** The options of the management API, below the name `management`. */
export interface ManagementFactoryOptions {
  readonly management: ManagementOptions;
}
/** Options of the management API that shape the module graph. */
export interface ManagementGraphOptions {
  /** Signs in the host's own users. Default: one-time links only. */
  readonly users?: PortSource<UserAuthenticator> | undefined;
}
/** How the options of `ManagementGraphOptions` are read. */
export const MANAGEMENT_GRAPH_OPTIONS = { users: unread } satisfies OptionsOf<ManagementGraphOptions>;
/** Options of `ManagementModule.forRoot`. */
export type ManagementModuleOptions = SharedCore & ManagementGraphOptions & ManagementFactoryOptions;
/** Options of `ManagementModule.forRootAsync`. */
export type ManagementModuleAsyncOptions = SharedCore &
  ManagementGraphOptions &
  OptionsSource<ManagementFactoryOptions>;
/** One, or several in a list. */
export type OneOrMore<T> = T | readonly T[];
/** Options of `MessagingModule.forRoot`. One-time passcodes, messaging-app channels, webhooks, log-in hooks, campaigns and the management API are mounted when their options are given. */
export type MessagingOptions = CoreOptions & {
  readonly sms: SmsGraphOptions & SmsOptions;
  readonly msgapp?: OneOrMore<MsgappGraphOptions & MsgappOptions> | undefined;
  readonly management?: (ManagementGraphOptions & ManagementOptions) | undefined;
} & OptionalFields<OtpFactoryOptions & WebhookFactoryOptions & LoginHookFactoryOptions & CampaignFactoryOptions>;
/** The options of a core and of all its capabilities. */
export type AllFactoryOptions = CoreFactoryOptions & {
  readonly sms?: SmsOptions | undefined;
  readonly msgapp?: OneOrMore<MsgappFactoryOptions> | undefined;
} & OptionalFields<
    OtpFactoryOptions &
      WebhookFactoryOptions &
      LoginHookFactoryOptions &
      CampaignFactoryOptions &
      ManagementFactoryOptions
  >;
/** Returns a factory that takes the options of a capability from those of the core. */
export function ofCore<V>(read: (given: AllFactoryOptions) => V): OptionsFromFactory<V> {
  return { inject: [GivenOptions], useFactory: read };
}

/** Options of `MessagingModule.forRootAsync`. */
export type MessagingAsyncOptions = CoreGraphOptions & {
  readonly sms?: SmsGraphOptions | undefined;
  /** True: one-time passcodes are mounted, and the factory returns their options. Default false. */
  readonly otp?: boolean | undefined;
  /** The messaging-app channels to mount. The factory returns the options of each, in the same order. Default: none. */
  readonly msgapp?: OneOrMore<MsgappGraphOptions> | undefined;
  /**
   * True: webhooks, the feed and the stream of events are mounted, and the factory returns their options. Default
   * false.
   */
  readonly webhooks?: boolean | undefined;
  /** True: log-in hooks are mounted, and the factory returns their options. Default false. */
  readonly hooks?: boolean | undefined;
  /** True: campaigns are mounted, and the factory returns their options. Default false. */
  readonly campaigns?: boolean | undefined;
  /**
   * True, or `{ users }`: sign-in and the management API are mounted, and the factory returns their options. Default
   * false.
   */
  readonly management?: boolean | ManagementGraphOptions | undefined;
} & OptionsSource<
    CoreFactoryOptions & {
      readonly sms: SmsOptions;
      readonly msgapp?: OneOrMore<MsgappFactoryOptions> | undefined;
    } & OptionalFields<
        OtpFactoryOptions &
          WebhookFactoryOptions &
          LoginHookFactoryOptions &
          CampaignFactoryOptions &
          ManagementFactoryOptions
      >
  >;
