import type { OptionalFields } from '../common/optional-fields.js';
import { type OptionsOf, unread } from '../common/options.js';
import type {
  CoreGraph,
  CoreOptions,
  CoreValues,
  SharedCore,
  ValuesFactory,
  ValuesSource,
} from '../core/core-options.js';
import { MessagingValues } from '../core/messaging-values.js';
import type { PortSource } from '../core/port-provider.js';
import type { ManagementOptions } from '../management/management-options.js';
import type { UserAuthenticator } from '../management/session/user-authenticator.js';
import type { MsgappOptions } from '../msgapp/msgapp-settings.js';
import type { MsgappTransport } from '../msgapp/msgapp-transport.js';
import type { OtpOptions } from '../otp/otp-options.js';
import type { SmsOptions } from '../sms/sms-options.js';
import type { SmsTransport } from '../sms/sms-transport.js';
import type { WebhookOptions } from '../webhooks/webhook-options.js';

/** Options of SMS that shape the module graph. */
export interface SmsGraph {
  /** Carries SMS out of the process. Default: the sandbox. */
  readonly transport?: PortSource<SmsTransport> | undefined;
}

/** How the options of `SmsGraph` are read. */
export const SMS_GRAPH_OPTIONS = { transport: unread } satisfies OptionsOf<SmsGraph>;

/** Options of one messaging-app channel that shape the module graph. */
export interface MsgappGraph extends Pick<MsgappOptions, 'channel'> {
  /** Links numbers and carries messages out of the process. Default: the sandbox. */
  readonly transport?: PortSource<MsgappTransport> | undefined;
}

/** How the options of `MsgappGraph` are read. */
export const MSGAPP_GRAPH_OPTIONS = { channel: unread, transport: unread } satisfies OptionsOf<MsgappGraph>;

/** Options of one messaging-app channel that a factory may return. */
export type MsgappValues = Omit<MsgappOptions, 'channel'>;

/** Options of `SmsModule.forRoot`. */
export type SmsModuleOptions = (CoreOptions | SharedCore) & SmsGraph & SmsOptions;
/** Options of `SmsModule.forRootAsync`. */
export type SmsModuleAsyncOptions = SmsGraph &
  ((CoreGraph & ValuesSource<CoreValues & SmsOptions>) | (SharedCore & ValuesSource<SmsOptions>));
/** The options of one-time passcodes, below the name `otp`. */
export interface OtpValues {
  readonly otp: OtpOptions;
}
/** Options of `OtpModule.forRoot`; with `sms`, SMS is mounted beside it. */
export type OtpModuleOptions = ((CoreOptions & { readonly sms?: (SmsGraph & SmsOptions) | undefined }) | SharedCore) &
  OtpValues;
/** Options of `OtpModule.forRootAsync`. */
export type OtpModuleAsyncOptions =
  | (CoreGraph & { readonly sms?: SmsGraph | undefined } & ValuesSource<
        CoreValues & OtpValues & { readonly sms?: SmsOptions | undefined }
      >)
  | (SharedCore & ValuesSource<OtpValues>);
/** Options of `MsgappModule.forRoot`. */
export type MsgappModuleOptions = (CoreOptions | SharedCore) & MsgappGraph & MsgappOptions;
/** Options of `MsgappModule.forRootAsync`. */
export type MsgappModuleAsyncOptions = MsgappGraph &
  ((CoreGraph & ValuesSource<CoreValues & MsgappValues>) | (SharedCore & ValuesSource<MsgappValues>));
/** The options of webhooks, below the name `webhooks`. */
export interface WebhookValues {
  readonly webhooks: WebhookOptions;
}
/** Options of `WebhooksModule.forRoot`. */
export type WebhooksModuleOptions = SharedCore & WebhookValues;
/** Options of `WebhooksModule.forRootAsync`. */
export type WebhooksModuleAsyncOptions = SharedCore & ValuesSource<WebhookValues>;
/** The options of the management API, below the name `management`. */
export interface ManagementValues {
  readonly management: ManagementOptions;
}
/** Options of the management API that shape the module graph. */
export interface ManagementGraph {
  /** Signs in the host's own users. Default: one-time links only. */
  readonly users?: PortSource<UserAuthenticator> | undefined;
}
/** How the options of `ManagementGraph` are read. */
export const MANAGEMENT_GRAPH_OPTIONS = { users: unread } satisfies OptionsOf<ManagementGraph>;
/** Options of `ManagementModule.forRoot`. */
export type ManagementModuleOptions = SharedCore & ManagementGraph & ManagementValues;
/** Options of `ManagementModule.forRootAsync`. */
export type ManagementModuleAsyncOptions = SharedCore & ManagementGraph & ValuesSource<ManagementValues>;
/** One, or several in a list. */
export type OneOrMore<T> = T | readonly T[];
/** Options of `MessagingModule.forRoot`. One-time passcodes, messaging-app channels, webhooks and the management API are mounted when their options are given. */
export type MessagingOptions = CoreOptions & {
  readonly sms: SmsGraph & SmsOptions;
  readonly msgapp?: OneOrMore<MsgappGraph & MsgappOptions> | undefined;
  readonly management?: (ManagementGraph & ManagementOptions) | undefined;
} & OptionalFields<OtpValues & WebhookValues>;
/** The values of a core and of all its capabilities. */
export type AllValues = CoreValues & {
  readonly sms?: SmsOptions | undefined;
  readonly msgapp?: OneOrMore<MsgappValues> | undefined;
} & OptionalFields<OtpValues & WebhookValues & ManagementValues>;
/** Returns a factory of a capability's values that reads them from the core's. */
export function ofCore<V>(read: (values: AllValues) => V): ValuesFactory<V> {
  return { inject: [MessagingValues], useFactory: read };
}

/** Options of `MessagingModule.forRootAsync`. */
export type MessagingAsyncOptions = CoreGraph & {
  readonly sms?: SmsGraph | undefined;
  /** True: one-time passcodes are mounted, and the factory returns their options. Default false. */
  readonly otp?: boolean | undefined;
  /** The messaging-app channels to mount. The factory returns the options of each, in the same order. Default: none. */
  readonly msgapp?: OneOrMore<MsgappGraph> | undefined;
  /**
   * True: webhooks, the feed and the stream of events are mounted, and the factory returns their options. Default
   * false.
   */
  readonly webhooks?: boolean | undefined;
  /**
   * True, or `{ users }`: sign-in and the management API are mounted, and the factory returns their options. Default
   * false.
   */
  readonly management?: boolean | ManagementGraph | undefined;
} & ValuesSource<
    CoreValues & { readonly sms: SmsOptions; readonly msgapp?: OneOrMore<MsgappValues> | undefined } & OptionalFields<
        OtpValues & WebhookValues & ManagementValues
      >
  >;
