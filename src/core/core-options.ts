import type { DynamicModule, InjectionToken, ModuleMetadata, OptionalFactoryDependency, Type } from '@nestjs/common';
import { ACCOUNT_OPTIONS, type AccountOptions } from '../accounts/account-options.js';
import type { UserTokenVerifier } from '../accounts/users/user-token-verifier.js';
import type { Clock } from '../common/clock.js';
import type { IdGenerator } from '../common/ids.js';
import type { Notifier } from '../common/notifier.js';
import { type OptionsOf, unread } from '../common/options.js';
import { HTTP_OPTIONS, type HttpOptions } from '../http/http-options.js';
import type { MediaFetcher } from '../media/media-fetcher.js';
import { MEDIA_OPTIONS, type MediaOptions } from '../media/media-options.js';
import { DISPATCH_OPTIONS, type DispatchOptions, ROLE_OPTION } from '../outbox/delivery/dispatch-options.js';
import type { ProcessRole } from '../outbox/delivery/process-role.api.js';
import { RETENTION_OPTIONS, type RetentionOptions } from '../outbox/retention/retention-options.js';
import type { MessagingStorage } from '../storage/messaging-storage.js';
import { HEALTH_OPTIONS, type HealthOptions } from './health-options.js';
import type { PortSource } from './port-provider.js';
import type { TelemetrySource } from './telemetry-source.js';

/** Options that shape the module graph. They are given synchronously, also to `forRootAsync`. */
export interface CoreGraphOptions {
  /**
   * The path of our routes, below the host's global prefix. It has segments of letters, digits and `. _ ~ -`, none of
   * them `.` or `..`, and 1 to 1000 characters. Default `api/v1`.
   */
  readonly path?: string | undefined;
  /** False: services only, no routes. Default true. */
  readonly controllers?: boolean | undefined;
  /** The storage. Default `TypeormStorage.forRoot({ url: 'sqlite:messaging.db' })`. */
  readonly storage?: PortSource<MessagingStorage> | undefined;
  /**
   * Verifies the host's user tokens (JWT) in `Authorization: Bearer` or `X-User-Token`. Default: none, so a
   * request with such a token is answered 401.
   */
  readonly userTokens?: PortSource<UserTokenVerifier> | undefined;
  /**
   * The time of all deliveries, leases and expiries. Default: the database's clock; on SQLite, which has none, the
   * machine's clock. If you give a clock of your own, the clocks of all processes must agree.
   */
  readonly clock?: PortSource<Clock> | undefined;
  /** Generates the ids of messages, accounts and other records. Default: UUIDs of version 7. */
  readonly ids?: PortSource<IdGenerator> | undefined;
  /** Notifies other processes that something has changed. Default `LocalNotifier`, which notifies this process only. */
  readonly notifier?: PortSource<Notifier> | undefined;
  /** Fetches the files that callers name by URL. Default: `GuardedMediaFetcher`, which goes to public addresses only. */
  readonly mediaFetcher?: PortSource<MediaFetcher> | undefined;
  /** Receives metrics and traces: `PrometheusTelemetry`, `OpenTelemetry` or one of your own. Default: none. */
  readonly telemetry?: TelemetrySource | undefined;
}

/** Options that a factory may return. */
export interface CoreFactoryOptions extends AccountOptions, Pick<HttpOptions, 'limits' | 'locale'> {
  /** Which messages this process delivers. Other processes on the same database can deliver the rest. Default `all`. */
  readonly role?: ProcessRole | undefined;
  readonly dispatch?: DispatchOptions | undefined;
  /** Addresses besides public ones from which the guarded fetcher may fetch files. */
  readonly media?: MediaOptions | undefined;
  /**
   * How long texts, recipients and histories are kept. Default: for ever; the application then logs this when it
   * starts.
   */
  readonly retention?: RetentionOptions | undefined;
  /** The checks that make the process unready. */
  readonly health?: HealthOptions | undefined;
}

/** How the options of `CoreGraphOptions` are read. `providePort` checks the ports. */
export const CORE_GRAPH_OPTIONS = {
  path: HTTP_OPTIONS.path,
  controllers: HTTP_OPTIONS.controllers,
  storage: unread,
  userTokens: unread,
  clock: unread,
  ids: unread,
  notifier: unread,
  mediaFetcher: unread,
  telemetry: unread,
} satisfies OptionsOf<CoreGraphOptions>;

/** How the options of `CoreFactoryOptions` are read. */
export const CORE_FACTORY_OPTIONS = {
  ...ACCOUNT_OPTIONS,
  limits: HTTP_OPTIONS.limits,
  locale: HTTP_OPTIONS.locale,
  role: ROLE_OPTION,
  dispatch: DISPATCH_OPTIONS,
  media: MEDIA_OPTIONS,
  retention: RETENTION_OPTIONS,
  health: HEALTH_OPTIONS,
} satisfies OptionsOf<CoreFactoryOptions>;

/**
 * The option of a capability that shares a core with others: the result of `MessagingCore.forRoot`, given to each of
 * them.
 */
export interface SharedCore {
  readonly core: DynamicModule;
}

/**
 * Modules whose exports can be injected into the factories beside this option: `useFactory`, and the factories of
 * ports.
 */
export interface FactoryImports {
  readonly imports?: ModuleMetadata['imports'] | undefined;
}

/** A factory of options, and the tokens that Nest injects into it. */
export interface OptionsFromFactory<V> extends FactoryImports {
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
  readonly useFactory: (...injected: never[]) => V | Promise<V>;
}

/** A provider that makes the options, for `useClass` and `useExisting`. */
export interface MessagingOptionsFactory<V> {
  createMessagingOptions(): V | Promise<V>;
}

/** The source of the options of `forRootAsync`. */
export type OptionsSource<V> =
  | (OptionsFromFactory<V> & { readonly useClass?: undefined; readonly useExisting?: undefined })
  | (FactoryImports & {
      /** A class that Nest instantiates to make the options. The exports of `imports` can be injected into it. */
      readonly useClass: Type<MessagingOptionsFactory<V>>;
      readonly useExisting?: undefined;
      readonly useFactory?: undefined;
    })
  | (FactoryImports & {
      /** The token of a provider that a module in `imports` exports. */
      readonly useExisting: InjectionToken<MessagingOptionsFactory<V>>;
      readonly useClass?: undefined;
      readonly useFactory?: undefined;
    });

/** Options of `MessagingCore.forRoot`. */
export type CoreOptions = CoreGraphOptions & CoreFactoryOptions;
/** Options of `MessagingCore.forRootAsync`. */
export type CoreAsyncOptions = CoreGraphOptions & OptionsSource<CoreFactoryOptions>;
