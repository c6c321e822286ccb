export type { AccountState } from './accounts/account.api.js';
export type { AccountOptions, LegacyBearerOptions } from './accounts/account-options.js';
export type { Account, KeyDefinition, Signature, SignatureStatus } from './accounts/account-records.js';
export type {
  AccountCallOptions,
  ChangeKeyCallOptions,
  IssueKeyCallOptions,
  ListedPage,
} from './accounts/account-service.js';
export {
  AccountService,
  type IssuedKey,
  type KeySummary,
} from './accounts/account-service.js';
export type { AuditAction, AuditPage, AuditView } from './accounts/audit/audit.api.js';
export type {
  AuditEntry,
  AuditFields,
  AuditQuery,
  Author,
  Author as AuditAuthor,
  StoredAuditEntry,
} from './accounts/audit/audit-entry.js';
export { Caller } from './accounts/caller.decorator.js';
export { ApiKeyGuard } from './accounts/keys/api-key.guard.js';
export type { NewApiKey } from './accounts/keys/api-key.js';
export { isApiKey, makeApiKey } from './accounts/keys/api-key.js';
export type { RoledUser } from './accounts/keys/authenticator.js';
export type { KeyPage, KeyView, NewKeyView } from './accounts/keys/key.api.js';
export type { KeyDraft } from './accounts/keys/key-definition.js';
export type { CallerKey } from './accounts/keys/key-directory.js';
export type { AccountRole, KeyScope, OperatorRole } from './accounts/keys/permissions.js';
export type { SignatureCallOptions } from './accounts/signatures/signature-service.js';
export { SignatureService } from './accounts/signatures/signature-service.js';
export type { VerifiedUser } from './accounts/users/user-token-verifier.js';
export { UserTokenVerifier } from './accounts/users/user-token-verifier.js';
export type { LedgerPart, LedgerView } from './billing/ledger.api.js';
export type { LedgerCheck, LedgerEntry, LedgerProgress } from './billing/ledger-entry.js';
export type { PostingOptions } from './billing/ledger-service.js';
export { LedgerService } from './billing/ledger-service.js';
export type { TariffOptions } from './billing/tariff.js';
export { Clock, SystemClock } from './common/clock.js';
export type { Cancellation } from './common/concurrency/async.js';
export {
  type ErrorCode,
  MessagingError,
  MessagingOptionsError,
  StorageUnavailableError,
  TransactionConflictError,
} from './common/errors.js';
export type { HostTransaction } from './common/host-transaction.js';
export { IdGenerator, UuidGenerator } from './common/ids.js';
export type { Page, PageRequest } from './common/listing/page.js';
export { LocalNotifier, type NoticeTopic, Notifier } from './common/notifier.js';
export type { OptionalFields } from './common/optional-fields.js';
export type { StrictNumbers } from './common/phone-numbers/recipient-number.js';
export {
  type HistogramMetric,
  type Measure,
  type Metric,
  type NewSpan,
  type Scrape,
  type SpanKind,
  Telemetry,
  type TelemetrySpan,
} from './common/telemetry/telemetry.js';
export type { Catalogue, Locale, TextKey, TextValues } from './common/text/catalogue.js';
export type {
  CoreAsyncOptions,
  CoreFactoryOptions,
  CoreGraphOptions,
  CoreOptions,
  FactoryImports,
  MessagingOptionsFactory,
  OptionsFromFactory,
  OptionsSource,
  SharedCore,
} from './core/core-options.js';
export type { HealthCheckName } from './core/health-check.api.js';
export type { HealthOptions } from './core/health-options.js';
export type { PortSource } from './core/port-provider.js';
export type { TelemetryRoute, TelemetrySource } from './core/telemetry-source.js';
export type { DeliveryStatus, PublishedStatus, ReportedStatus, WaitingStatus } from './events/delivery-status.js';
export type {
  EventData,
  EventType,
  EventView,
  MessagingEvent,
  NewEvent,
  TypedData,
} from './events/event-types.js';
export { DELIVERY_EVENTS } from './events/event-types.js';
export type {
  CodeData,
  DeliveryData,
  DeliveryEventType,
  EventDescription,
  EventHead,
  KeyData,
  Metadata,
  OptOutData,
  PostingData,
  ReceivedMessage,
  ReceivedSms,
  SendData,
  SessionData,
  SignatureData,
} from './events/events.api.js';
export {
  type HostEvents,
  type MessagingEventMap,
  MessagingEvents,
  type SegmentDifference,
} from './events/messaging-events.js';
export type { HealthCheckView, HealthReport } from './health/health.api.js';
export type { HealthState } from './health/health-checks.js';
export { HealthService } from './health/health-service.js';
export { MessagingExceptionFilter } from './http/messaging-exception.filter.js';
export { isMessagingRoute } from './http/messaging-route.js';
export { MessagingReadiness } from './http/readiness.js';
export { type AuditListQuery, AuditService } from './management/audit/audit-service.js';
export type { CodeRefusals, CodesOfCountry, CodesView } from './management/codes/codes.api.js';
export { type CodesPeriod, CodesService } from './management/codes/codes-service.js';
export {
  type KeyCallOptions,
  type KeyListQuery,
  KeyService,
  type NewKeyAnswer,
  type NewKeyDraft,
} from './management/keys/key-service.js';
export { ManagementModule } from './management/management.module.js';
export type { ManagementOptions } from './management/management-options.js';
export type { ClaimSource, OidcAlgorithm, OidcClaims, OidcOptions } from './management/oidc/oidc-options.js';
export { OidcUserTokenVerifier } from './management/oidc/oidc-user-token-verifier.js';
export type {
  AccountPage,
  AccountView,
  ManagedSignaturePage,
  ManagedSignatureView,
  PostingView,
} from './management/operator/accounts/managed-account.api.js';
export {
  type AccountDraft,
  type AccountListQuery,
  ManagedAccounts,
  type NewAccount,
  type PostingDraft,
} from './management/operator/accounts/managed-accounts.js';
export { ManagedSignatures, type SignatureListQuery } from './management/operator/accounts/managed-signatures.js';
export { LedgerChecks } from './management/operator/ledger-checks/ledger-checks.js';
export type { ManagedSessionPage, ManagedSessionView } from './management/operator/managed-session.api.js';
export { ManagedSessions, type SessionListQuery } from './management/operator/managed-sessions.js';
export type {
  CarrierLinkView,
  CarrierRouteView,
  CarriersView,
  UnreadNumberView,
} from './management/operator/operations/carriers.api.js';
export { ManagedCarriers } from './management/operator/operations/managed-carriers.js';
export { ManagedQueues, type PauseDraft } from './management/operator/operations/managed-queues.js';
export type { PausesView, PauseView, QueueDepthView, QueuesView } from './management/operator/operations/queues.api.js';
export type { FindingView, LedgerCheckView, SystemView, WorkerView } from './management/operator/operations.api.js';
export type { OperatorCallOptions } from './management/operator/operator-call.js';
export { SystemService } from './management/operator/system-service.js';
export type { AttentionView, OverviewView } from './management/usage/overview.api.js';
export { OverviewService } from './management/usage/overview-service.js';
export type { UsageAmountsView, UsageItemView, UsageView } from './management/usage/usage.api.js';
export { type UsagePeriod, UsageService } from './management/usage/usage-service.js';
export {
  type EndedUser,
  type LinkDraft,
  type LinkOptions,
  ManagementService,
  type OneTimeLink,
} from './management/user-sessions/management-service.js';
export {
  type AuthenticatedUser,
  type SignInRequest,
  UserAuthenticator,
} from './management/user-sessions/user-authenticator.js';
export type { LinkView, SessionUserView, UserSessionView } from './management/user-sessions/user-session.api.js';
export { GuardedMediaFetcher } from './media/guarded-media-fetcher.js';
export { type FetchedMedia, MediaFetcher, MediaRefusedError, type MediaRequest } from './media/media-fetcher.js';
export type { MediaAllow, MediaOptions } from './media/media-options.js';
export { MessagingModule } from './messaging/messaging.module.js';
export { MessagingCore } from './messaging/messaging-core.module.js';
export type {
  ManagementFactoryOptions,
  ManagementGraphOptions,
  ManagementModuleAsyncOptions,
  ManagementModuleOptions,
  MessagingAsyncOptions,
  MessagingOptions,
  MsgappFactoryOptions,
  MsgappGraphOptions,
  MsgappModuleAsyncOptions,
  MsgappModuleOptions,
  OneOrMore,
  OtpFactoryOptions,
  OtpModuleAsyncOptions,
  OtpModuleOptions,
  SmsGraphOptions,
  SmsModuleAsyncOptions,
  SmsModuleOptions,
  WebhookFactoryOptions,
  WebhooksModuleAsyncOptions,
  WebhooksModuleOptions,
} from './messaging/module-options.js';
export { messagingMigrations } from './messaging/schema.js';
export type { TypeormStorageSource } from './messaging/typeorm-storage.js';
export { TypeormStorage, type TypeormStorageOptions } from './messaging/typeorm-storage.js';
export { channelToken } from './msgapp/channel-token.js';
export type {
  MsgappMessage,
  MsgappPage,
  MsgappSendResult,
  PendingSession,
  SessionsView,
  SessionView,
} from './msgapp/msgapp.api.js';
export { MsgappModule } from './msgapp/msgapp.module.js';
export type { ConnectLimits, MsgappOptions, MsgappTariff } from './msgapp/msgapp-options.js';
export type { MsgappListQuery } from './msgapp/msgapp-query.js';
export type { MsgappSendOptions } from './msgapp/msgapp-service.js';
export { type MsgappFile, MsgappService, type MsgappText } from './msgapp/msgapp-service.js';
export type { IncomingMedia, IncomingMsgapp, LinkEnd, MediaKind } from './msgapp/msgapp-transport.js';
export {
  type Link,
  type LinkEvent,
  type LinkListener,
  type LinkOrder,
  type LinkResult,
  MsgappTransport,
  type OutgoingMedia,
  type OutgoingMsgapp,
  type Pacing,
  type SessionTiming,
} from './msgapp/msgapp-transport.js';
export type { MediaDescription } from './msgapp/sending/message-contents.js';
export type { CredentialsKeyOption } from './msgapp/sessions/credential-cipher.js';
export { SessionLostError } from './msgapp/sessions/credential-vault.js';
export type { LinkCode, LinkNews } from './msgapp/sessions/qr-stream.js';
export type { SessionCredentials } from './msgapp/sessions/session-credentials.js';
export { SessionManager } from './msgapp/sessions/session-manager.js';
export {
  PostgresNotifier,
  type PostgresNotifierOptions,
  type PostgresNotifierSource,
} from './notifiers/postgres-notifier.js';
export { describeMessaging } from './openapi/describe-messaging.js';
export type { OpenApiDocument, Tag as OpenApiTag } from './openapi/openapi-document.js';
export { type OperatorProgram, runOperator } from './operator/run-operator.js';
export type { OtpWindow } from './otp/challenge.js';
export type { OtpSendResult } from './otp/otp.api.js';
export { OtpModule } from './otp/otp.module.js';
export type { OtpPepper, OtpPepperOption } from './otp/otp-codes.js';
export type { CountryBreaker, OtpLimits, OtpPreset } from './otp/otp-limits.js';
export type { OtpOptions } from './otp/otp-options.js';
export type { VerifyOutcome } from './otp/otp-results.js';
export type { OtpSendOptions } from './otp/otp-service.js';
export { OtpService, type OtpToSend, type OtpToVerify } from './otp/otp-service.js';
export type { OtpServiceOptions } from './otp/otp-text.js';
export type { SendKey } from './outbox/accept/send.js';
export type { DeliveryResult, DeliveryTiming, RepeatPolicy, ResultPolicy } from './outbox/delivery/delivery-result.js';
export type { DispatchOptions, ProcessRole } from './outbox/delivery/dispatch-options.js';
export type { MessageListQuery } from './outbox/listing/message-listing.js';
export type { Acceptance } from './outbox/outbox.js';
export type { Priority, SendPriority } from './outbox/queue/priority.api.js';
export { type ErasureResult, ErasureService } from './outbox/retention/erasure-service.js';
export type { RetentionOptions } from './outbox/retention/retention-options.js';
export { SandboxModule } from './sandbox/sandbox.module.js';
export { SandboxMsgappTransport } from './sandbox/sandbox-msgapp-transport.js';
export type { SandboxOptions } from './sandbox/sandbox-options.js';
export { SandboxSmsTransport } from './sandbox/sandbox-sms-transport.js';
export type { Json } from './schemas/schema.js';
export type { LinkState, RouteState } from './sms/carrier-state.js';
export type { OptOutCallOptions, OptOutScope } from './sms/opt-out/opt-out-service.js';
export { type OptOutEntry, OptOutService } from './sms/opt-out/opt-out-service.js';
export type { OptOutSource } from './sms/opt-out/opt-out-store.js';
export type { OptOutWordsOption } from './sms/opt-out/opt-out-words.js';
export { type Encoding, type Measurement, measure } from './sms/segmentation.js';
export type {
  SmsAttempt,
  SmsDetails,
  SmsPage,
  SmsQuote,
  SmsRecipient,
  SmsRecipientPage,
  SmsSendResult,
  SmsSummary,
} from './sms/sms.api.js';
export { SmsModule } from './sms/sms.module.js';
export type { SmsOptions } from './sms/sms-options.js';
export type { SmsListQuery, SmsRecipientsQuery } from './sms/sms-query.js';
export type { SmsSendOptions } from './sms/sms-service.js';
export { SmsService, type SmsToSend } from './sms/sms-service.js';
export type { RouteAttempt } from './sms/sms-transport.js';
export {
  type CallbackAnswer,
  type CallbackHandler,
  type CarrierCallback,
  type CarrierReceipt,
  type InboundSms,
  type OutgoingSms,
  type PartPlace,
  type ReportResult,
  type SmsReport,
  type SmsSink,
  SmsTransport,
  type SubmitResult,
} from './sms/sms-transport.js';
export type { Transliteration } from './sms/transliteration.js';
export {
  MessagingStorage,
  type StorageFinding,
  type StorageHealth,
} from './storage/messaging-storage.js';
export type { SqlStorageOptions } from './storage/sql-storage.js';
export type { MeasureOrder, StorageMeasures } from './telemetry/storage-meter.js';
export type {
  AttemptPage,
  AttemptView,
  EndpointOrdering,
  EndpointPage,
  EndpointRemoved,
  EndpointView,
  EndpointWithSecret,
  PingResult,
  WebhookSignature,
} from './webhooks/endpoints/endpoint.api.js';
export type { DisabledReason } from './webhooks/endpoints/endpoint.js';
export type { AttemptListQuery, WebhookListQuery } from './webhooks/endpoints/endpoint-history.js';
export type { EndpointChanges, EndpointDraft, ReplayDraft } from './webhooks/endpoints/endpoint-input.js';
export { type WebhookAnswer, type WebhookCallOptions, WebhookService } from './webhooks/endpoints/webhook-service.js';
export type { EventPageRequest, EventPlace } from './webhooks/feed/event-service.js';
export { EventService } from './webhooks/feed/event-service.js';
export type { EventFeedPage, EventTypes } from './webhooks/feed/feed.api.js';
export type { WebhookOptions } from './webhooks/webhook-options.js';
export { WebhooksModule } from './webhooks/webhooks.module.js';
