import type { DynamicModule, InjectionToken, ModuleMetadata, OptionalFactoryDependency } from '@nestjs/common';
import { ACCOUNT_OPTIONS, type AccountOptions } from '../accounts/account-options.js';
import type { UserTokenVerifier } from '../accounts/user-token-verifier.js';
import type { Clock } from '../common/clock.js';
import type { IdGenerator } from '../common/ids.js';
import { type OptionsOf, unread } from '../common/options.js';
import type { SomeOf } from '../common/some-of.js';
import { HTTP_OPTIONS, type HttpOptions } from '../http/http-settings.js';
import type { MediaFetcher } from '../media/media-fetcher.js';
import { MEDIA_OPTIONS, type MediaOptions } from '../media/media-options.js';
import type { MsgappOptions } from '../msgapp/msgapp-settings.js';
import type { MsgappTransport } from '../msgapp/msgapp-transport.js';
import type { OtpOptions } from '../otp/otp-options.js';
import { DISPATCH_OPTIONS, type DispatchOptions } from '../outbox/dispatch-options.js';
import type { WorkerNotifier } from '../outbox/worker-notifier.js';
import type { SmsOptions } from '../sms/sms-options.js';
import type { SmsTransport } from '../sms/sms-transport.js';
import type { MessagingStorage } from '../storage/messaging-storage.js';
import type { PortSource } from './port-provider.js';

/** What shapes the module graph; given at once, also to `forRootAsync`. */
export interface CoreGraph {
  /**
   * Where our routes start, below the host's global prefix: segments of letters, digits and `. _ ~ -`, none of them `.` or
   * `..`, 1 to 1000 characters. Default `api/v1`.
   */
  readonly path?: string | undefined;
  /** False: services only, no routes. Default true. */
  readonly controllers?: boolean | undefined;
  /** Where everything is kept. Default `TypeormStorage.forRoot({ url: 'sqlite:messaging.db' })`. */
  readonly storage?: PortSource<MessagingStorage> | undefined;
  /** Accepts user tokens (JWT) in `Authorization: Bearer`. Default: none, every such token is a 401. */
  readonly userTokens?: PortSource<UserTokenVerifier> | undefined;
  /** Default: the machine's clock. */
  readonly clock?: PortSource<Clock> | undefined;
  /** Default: UUIDs of version 7. */
  readonly ids?: PortSource<IdGenerator> | undefined;
  /** Default: wakes the workers of this process. */
  readonly notifier?: PortSource<WorkerNotifier> | undefined;
  /** Fetches the files that callers name by URL. Default: `GuardedMediaFetcher`, which goes to public addresses only. */
  readonly mediaFetcher?: PortSource<MediaFetcher> | undefined;
}

/** What a factory may give: values. */
export interface CoreValues extends AccountOptions, Pick<HttpOptions, 'limits' | 'locale'> {
  readonly dispatch?: DispatchOptions | undefined;
  /** What the guarded fetcher of files may do besides. */
  readonly media?: MediaOptions | undefined;
}

/** How the options of the core are read that are given at once. Ports are checked where they are provided. */
export const CORE_GRAPH_OPTIONS = {
  path: HTTP_OPTIONS.path,
  controllers: HTTP_OPTIONS.controllers,
  storage: unread,
  userTokens: unread,
  clock: unread,
  ids: unread,
  notifier: unread,
  mediaFetcher: unread,
} satisfies OptionsOf<CoreGraph>;

/** How the options of the core are read that a factory may give. */
export const CORE_OPTIONS = {
  ...ACCOUNT_OPTIONS,
  limits: HTTP_OPTIONS.limits,
  locale: HTTP_OPTIONS.locale,
  dispatch: DISPATCH_OPTIONS,
  media: MEDIA_OPTIONS,
} satisfies OptionsOf<CoreValues>;

/** What shapes the graph of SMS. */
export interface SmsGraph {
  /** Carries SMS out of the process. Default: the sandbox. */
  readonly transport?: PortSource<SmsTransport> | undefined;
}

/** How the options of SMS are read that are given at once. */
export const SMS_GRAPH_OPTIONS = { transport: unread } satisfies OptionsOf<SmsGraph>;

/** What shapes the graph of one messaging-app channel. */
export interface MsgappGraph extends Pick<MsgappOptions, 'channel'> {
  /** Links numbers and carries messages out of the process. Default: the sandbox. */
  readonly transport?: PortSource<MsgappTransport> | undefined;
}

/** How the options of a messaging-app channel are read that are given at once. */
export const MSGAPP_GRAPH_OPTIONS = { channel: unread, transport: unread } satisfies OptionsOf<MsgappGraph>;

/** What a factory may give of one messaging-app channel: values. */
export type MsgappValues = Omit<MsgappOptions, 'channel'>;

/** One core for several capabilities: `MessagingCore.forRoot(…)`, given to each of them. */
export interface SharedCore {
  readonly core: DynamicModule;
}

/** Modules whose exports the factories beside this may inject: that of the values, and those of ports. */
export interface FactoryImports {
  readonly imports?: ModuleMetadata['imports'] | undefined;
}

/** Values from a factory, with what it needs. */
export interface ValuesFactory<V> extends FactoryImports {
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
  readonly useFactory: (...injected: never[]) => V | Promise<V>;
}

/** Options of `MessagingCore.forRoot`. */
export type CoreOptions = CoreGraph & CoreValues;
/** Options of `MessagingCore.forRootAsync`. */
export type CoreAsyncOptions = CoreGraph & ValuesFactory<CoreValues>;
/** Options of `SmsModule.forRoot`. */
export type SmsModuleOptions = (CoreOptions | SharedCore) & SmsGraph & SmsOptions;
/** Options of `SmsModule.forRootAsync`. */
export type SmsModuleAsyncOptions = SmsGraph &
  ((CoreGraph & ValuesFactory<CoreValues & SmsOptions>) | (SharedCore & ValuesFactory<SmsOptions>));
/** What the host says about one-time passcodes, beside what it says about the rest. */
export interface OtpValues {
  readonly otp: OtpOptions;
}
/** Options of `OtpModule.forRoot`; with `sms`, SMS is mounted beside it. */
export type OtpModuleOptions = ((CoreOptions & { readonly sms?: (SmsGraph & SmsOptions) | undefined }) | SharedCore) &
  OtpValues;
/** Options of `OtpModule.forRootAsync`. */
export type OtpModuleAsyncOptions =
  | (CoreGraph & { readonly sms?: SmsGraph | undefined } & ValuesFactory<
        CoreValues & OtpValues & { readonly sms?: SmsOptions | undefined }
      >)
  | (SharedCore & ValuesFactory<OtpValues>);
/** Options of `MsgappModule.forRoot`. */
export type MsgappModuleOptions = (CoreOptions | SharedCore) & MsgappGraph & MsgappOptions;
/** Options of `MsgappModule.forRootAsync`. */
export type MsgappModuleAsyncOptions = MsgappGraph &
  ((CoreGraph & ValuesFactory<CoreValues & MsgappValues>) | (SharedCore & ValuesFactory<MsgappValues>));
/** One, or several in a list. */
export type OneOrMore<T> = T | readonly T[];
/** Options of `MessagingModule.forRoot`; one-time passcodes and messaging-app channels are mounted when they are given. */
export type MessagingOptions = CoreOptions & {
  readonly sms: SmsGraph & SmsOptions;
  readonly msgapp?: OneOrMore<MsgappGraph & MsgappOptions> | undefined;
} & SomeOf<OtpValues>;
/** Options of `MessagingModule.forRootAsync`. */
export type MessagingAsyncOptions = CoreGraph & {
  readonly sms?: SmsGraph | undefined;
  /** True: one-time passcodes are mounted, and the factory gives their options. Default false. */
  readonly otp?: boolean | undefined;
  /** Messaging-app channels to mount; the factory gives as many options, in the same order. Default: none. */
  readonly msgapp?: OneOrMore<MsgappGraph> | undefined;
} & ValuesFactory<
    CoreValues & { readonly sms: SmsOptions; readonly msgapp?: OneOrMore<MsgappValues> | undefined } & SomeOf<OtpValues>
  >;
