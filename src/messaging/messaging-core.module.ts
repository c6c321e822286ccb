import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { AccountDirectory } from '../accounts/account-directory.js';
import { AccountSettings, resolveAccountSettings } from '../accounts/account-options.js';
import { AccountService } from '../accounts/account-service.js';
import { AccountStore } from '../accounts/account-store.js';
import { Admission } from '../accounts/admission.js';
import { AuditLog } from '../accounts/audit/audit.js';
import { Authenticator } from '../accounts/keys/authenticator.js';
import { KeyDirectory } from '../accounts/keys/key-directory.js';
import { KeyLastUse } from '../accounts/keys/key-last-use.js';
import { KeyRegistry } from '../accounts/keys/key-registry.js';
import { SignatureDirectory } from '../accounts/signatures/signature-directory.js';
import { SignatureService } from '../accounts/signatures/signature-service.js';
import { TextAccess } from '../accounts/text-access.js';
import { UserTokenVerifier } from '../accounts/users/user-token-verifier.js';
import { balanceOpenapi } from '../billing/balance.openapi.js';
import { LedgerService } from '../billing/ledger-service.js';
import { LedgerStore } from '../billing/ledger-store.js';
import { Clock, SystemClock } from '../common/clock.js';
import { Rounds } from '../common/concurrency/rounds.js';
import { IdGenerator, UuidGenerator } from '../common/ids.js';
import { LocalNotifier, Notifier } from '../common/notifier.js';
import { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import { NoTelemetry, Telemetry } from '../common/telemetry/telemetry.js';
import { storeProvider } from '../core/capability.js';
import { checkFactoryOptions, checkOptions, FACTORY_OPTIONS } from '../core/check-options.js';
import { ConfiguredModule, configured } from '../core/configured-module.js';
import {
  CORE_FACTORY_OPTIONS,
  CORE_GRAPH_OPTIONS,
  type CoreAsyncOptions,
  type CoreFactoryOptions,
  type CoreGraphOptions,
  type CoreOptions,
  type OptionsFromFactory,
} from '../core/core-options.js';
import { DatabaseClock } from '../core/database-clock.js';
import { GivenOptions } from '../core/given-options.js';
import { GraphCheck } from '../core/graph-check.js';
import { HealthSettings, resolveHealthSettings } from '../core/health-options.js';
import { LowBalances } from '../core/low-balances.js';
import { MountCheck } from '../core/mount-check.js';
import { MountPoint } from '../core/mount-point.js';
import { type PortParts, providePort } from '../core/port-provider.js';
import { StorageLifecycle } from '../core/storage-lifecycle.js';
import { EventLog } from '../events/event-log.js';
import { EventNumbering } from '../events/event-numbering.js';
import { EventPublisher } from '../events/event-publisher.js';
import { EventRetention } from '../events/event-retention.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { CoreChecks } from '../health/core-checks.js';
import { healthOpenapi } from '../health/health.openapi.js';
import { HealthChecks } from '../health/health-checks.js';
import { HealthService } from '../health/health-service.js';
import { MessagingEdge } from '../http/edge/messaging-edge.js';
import { HostGlobalsModule } from '../http/host-globals.js';
import { HttpSettings, resolveHttpSettings } from '../http/http-options.js';
import { MessagingReadiness } from '../http/readiness.js';
import { RecipientLimit } from '../http/recipient-limit.js';
import { GuardedMediaFetcher } from '../media/guarded-media-fetcher.js';
import { MediaFetcher } from '../media/media-fetcher.js';
import { MediaSettings, resolveMediaSettings } from '../media/media-options.js';
import { MediaStore } from '../media/media-store.js';
import { mountDescribed } from '../openapi/described-controllers.js';
import { Channels } from '../outbox/channel.js';
import { DispatchSettings, resolveDispatchSettings } from '../outbox/delivery/dispatch-options.js';
import { Dispatcher } from '../outbox/delivery/dispatcher.js';
import { EVENT_UPKEEP, eventErasure } from '../outbox/event-upkeep.js';
import { Idempotency } from '../outbox/idempotency.js';
import { OperatingStore, OperatingSwitches } from '../outbox/operating-state.js';
import { Outbox } from '../outbox/outbox.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import { PolicyStore } from '../outbox/policy/policy-store.js';
import { PURGER, Purger } from '../outbox/purger.js';
import { type ErasureRule, ErasureRules, ErasureService, provideErasure } from '../outbox/retention/erasure-service.js';
import { Retention } from '../outbox/retention/retention.js';
import { RetentionSettings, resolveRetentionSettings } from '../outbox/retention/retention-options.js';
import { RetentionStore } from '../outbox/retention/retention-store.js';
import { Cancellation } from '../outbox/schedule/cancellation.js';
import { TextSources } from '../outbox/text-sources.js';
import { MessagingStorage, StartedStorage } from '../storage/messaging-storage.js';
import { metricsRoute, TELEMETRY } from '../telemetry/telemetry-parts.js';
import type { AllFactoryOptions } from './module-options.js';
import { TypeormStorage } from './typeorm-storage.js';

/**
 * The parts that all capabilities share: accounts and keys, balance, outbox, storage, the HTTP edge. An application has
 * one core. The core is global, so that its services can be injected into the host's own classes.
 */
@Module({})
export class MessagingCore extends ConfiguredModule {
  /** @throws MessagingOptionsError if the application starts, with a sentence that names the wrong option */
  static forRoot(options: CoreOptions): DynamicModule {
    return MessagingCore.build(checkOptions(options, CORE_GRAPH_OPTIONS, CORE_FACTORY_OPTIONS), {
      useFactory: () => options,
    });
  }

  /** As `forRoot`, with the options from a factory. */
  static forRootAsync(options: CoreAsyncOptions): DynamicModule {
    checkOptions(options, CORE_GRAPH_OPTIONS, FACTORY_OPTIONS);
    return MessagingCore.build(options, checkFactoryOptions(options, CORE_FACTORY_OPTIONS, CORE_GRAPH_OPTIONS));
  }

  /** @internal */
  static build(
    graph: CoreGraphOptions,
    { imports = [], inject = [], useFactory }: OptionsFromFactory<CoreFactoryOptions>,
  ): DynamicModule {
    const ports = portsOf(graph);
    const { path, controllers } = resolveHttpSettings(graphOf(graph));
    const mountPoint: MountPoint = { path, controllers };
    const metrics = metricsRoute(controllers ? graph.telemetry?.route : undefined, path);
    return {
      module: MessagingCore,
      global: true,
      imports: [HostGlobalsModule, ...imports, ...ports.imports],
      controllers: controllers
        ? [...[balanceOpenapi, healthOpenapi].map((each) => mountDescribed(each, path)), ...metrics.controllers]
        : [],
      providers: [
        ...configured(MessagingCore),
        { provide: GivenOptions, useFactory, inject },
        { provide: MountPoint, useValue: mountPoint },
        ...settingsProviders(mountPoint),
        ...ports.providers,
        ...STORES,
        ...SERVICES,
        ...metrics.providers,
      ],
      exports: [HostGlobalsModule, ...EXPORTS, ...ports.exports],
    };
  }
}

const SERVICES = [
  MountCheck,
  GraphCheck,
  Rounds,
  StorageLifecycle,
  MessagingReadiness,
  MessagingEdge,
  RecipientLimit,
  MessagingEvents,
  EventPublisher,
  KeyDirectory,
  SignatureDirectory,
  Authenticator,
  Admission,
  AccountDirectory,
  KeyRegistry,
  KeyLastUse,
  AccountService,
  SignatureService,
  TextAccess,
  LedgerService,
  LowBalances,
  Channels,
  TextSources,
  Idempotency,
  Cancellation,
  OperatingSwitches,
  Dispatcher,
  ...PURGER,
  Retention,
  ErasureRules,
  ErasureService,
  EventRetention,
  EventNumbering,
  EVENT_UPKEEP,
  ...TELEMETRY,
  HealthChecks,
  CoreChecks,
  HealthService,
  provideErasure(fileErasure, [MediaStore]),
  provideErasure(eventErasure, [EventLog]),
];

/**
 * Deletes the files of messages to an erased number. Usually a file is deleted when its message ends, but one may be
 * left.
 */
function fileErasure(store: MediaStore): ErasureRule {
  return {
    what: 'files',
    messages: (deliveries) => {
      const files = deliveries.filter(({ payload }) => payload.kind === 'media');
      return store.remove(files.map(({ messageId }) => messageId));
    },
  };
}

const STORES: readonly Provider[] = [
  OutboxStore,
  LedgerStore,
  AccountStore,
  PolicyStore,
  RetentionStore,
  EventLog,
  AuditLog,
  OperatingStore,
  MediaStore,
].map(storeProvider);

const EXPORTS = [
  GivenOptions,
  MessagingReadiness,
  Rounds,
  HttpSettings,
  RecipientLimit,
  AccountSettings,
  DispatchSettings,
  MessagingEvents,
  EventPublisher,
  EventLog,
  AccountDirectory,
  KeyRegistry,
  Authenticator,
  Admission,
  AccountService,
  SignatureService,
  SignatureDirectory,
  TextAccess,
  LedgerService,
  Channels,
  TextSources,
  Outbox,
  Idempotency,
  Cancellation,
  OperatingSwitches,
  Dispatcher,
  Purger,
  OutboxStore,
  PolicyStore,
  AccountStore,
  StartedStorage,
  MediaStore,
  RetentionSettings,
  RetentionStore,
  ErasureRules,
  ErasureService,
  EventLog,
  EventRetention,
  AuditLog,
  SafeTelemetry,
  HealthChecks,
  HealthService,
  HealthSettings,
];

function settingsProviders(mountPoint: MountPoint): Provider[] {
  return [
    {
      provide: HttpSettings,
      useFactory: ({ limits, locale, sms }: AllFactoryOptions, recipients: RecipientLimit): HttpSettings => ({
        ...resolveHttpSettings({
          ...mountPoint,
          ...(limits ? { limits } : {}),
          ...(locale === undefined ? {} : { locale }),
        }),
        home: sms?.tariff?.home,
        // This is a getter, because capabilities set their limits later.
        get maxRecipients() {
          return recipients.maxRecipients;
        },
      }),
      inject: [GivenOptions, RecipientLimit],
    },
    {
      provide: AccountSettings,
      useFactory: (given: CoreFactoryOptions, { catalogue }: HttpSettings) => resolveAccountSettings(given, catalogue),
      inject: [GivenOptions, HttpSettings],
    },
    {
      provide: DispatchSettings,
      useFactory: ({ dispatch, role }: CoreFactoryOptions) => resolveDispatchSettings(dispatch, role),
      inject: [GivenOptions],
    },
    {
      provide: RetentionSettings,
      useFactory: ({ retention }: CoreFactoryOptions) => resolveRetentionSettings(retention),
      inject: [GivenOptions],
    },
    {
      provide: HealthSettings,
      useFactory: ({ health }: CoreFactoryOptions) => resolveHealthSettings(health),
      inject: [GivenOptions],
    },
    {
      provide: MediaSettings,
      useFactory: ({ media }: CoreFactoryOptions) => resolveMediaSettings(media),
      inject: [GivenOptions],
    },
  ];
}

function graphOf({ path, controllers }: Pick<CoreGraphOptions, 'path' | 'controllers'>) {
  return { ...(path === undefined ? {} : { path }), ...(controllers === undefined ? {} : { controllers }) };
}

function portsOf({ storage, userTokens, clock, ids, notifier, mediaFetcher, telemetry }: CoreGraphOptions): PortParts {
  const shared = [
    providePort('clock', Clock, clock ?? { useFactory: () => new DatabaseClock(new SystemClock()) }),
    providePort('ids', IdGenerator, ids ?? UuidGenerator),
    providePort('notifier', Notifier, notifier ?? LocalNotifier),
    providePort('telemetry', Telemetry, telemetry ?? NoTelemetry),
    providePort('mediaFetcher', MediaFetcher, mediaFetcher ?? GuardedMediaFetcher),
  ];
  const parts = [
    ...shared,
    providePort('storage', MessagingStorage, storage ?? TypeormStorage.forRoot({ url: 'sqlite:messaging.db' })),
    ...(userTokens === undefined ? [] : [providePort('userTokens', UserTokenVerifier, userTokens)]),
  ];
  return {
    imports: parts.flatMap(({ imports }) => imports),
    providers: parts.flatMap(({ providers }) => providers),
    exports: shared.flatMap((part) => part.exports),
  };
}
