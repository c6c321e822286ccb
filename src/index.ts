export type { AccountOptions } from './accounts/account-options.js';
export type { Account } from './accounts/account-records.js';
export { AccountService, type IssuedKey, type KeySummary } from './accounts/account-service.js';
export { Caller } from './accounts/caller.decorator.js';
export { ApiKeyGuard } from './accounts/keys/api-key.guard.js';
export { isApiKey, makeApiKey } from './accounts/keys/api-key.js';
export type { AccountRole, KeyScope } from './accounts/keys/permissions.js';
export { SignatureService } from './accounts/signatures/signature-service.js';
export { UserTokenVerifier, type VerifiedUser } from './accounts/users/user-token-verifier.js';
export { LedgerService, type PostingOptions } from './billing/ledger-service.js';
export type { TariffOptions } from './billing/tariff.js';
export type { CampaignView } from './campaigns/campaign.api.js';
export type { CampaignDraft } from './campaigns/campaign-input.js';
export type { CampaignOptions } from './campaigns/campaign-options.js';
export { CampaignService } from './campaigns/campaign-service.js';
export { CampaignsModule } from './campaigns/campaigns.module.js';
export { Clock, SystemClock } from './common/clock.js';
export {
  type ErrorCode,
  MessagingError,
  MessagingOptionsError,
  StorageUnavailableError,
  TransactionConflictError,
} from './common/errors.js';
export type { HostTransaction } from './common/host-transaction.js';
export { IdGenerator, UuidGenerator } from './common/ids.js';
export type { Page } from './common/listing/page.js';
export { LocalNotifier, type NoticeTopic, Notifier } from './common/notifier.js';
export { type Measure, type Metric, Telemetry, type TelemetrySpan } from './common/telemetry/telemetry.js';
export type { Catalogue, Locale, TextKey } from './common/text/catalogue.js';
export type { CoreAsyncOptions, CoreOptions, MessagingOptionsFactory } from './core/core-options.js';
export type { HealthOptions } from './core/health-options.js';
export type { DeliveryStatus } from './events/delivery-status.js';
export { DELIVERY_EVENTS, type EventType, type EventView, type MessagingEvent } from './events/event-types.js';
export type {
  CodeData,
  ContactData,
  DeliveryData,
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
export { type MessagingEventMap, MessagingEvents } from './events/messaging-events.js';
export type { HealthReport } from './health/health.api.js';
export { HealthService } from './health/health-service.js';
export type { LoginHookOptions } from './hooks/login-hook-options.js';
export { MessagingExceptionFilter } from './http/messaging-exception.filter.js';
export { isMessagingRoute } from './http/messaging-route.js';
export { MessagingReadiness } from './http/readiness.js';
// A compiler that emits declarations finds the names of these entries only if it has loaded them.
export type {} from './management/index.js';
export { ManagementModule } from './management/management.module.js';
export type { ManagementOptions } from './management/management-options.js';
export type { OidcOptions } from './management/oidc/oidc-options.js';
export { OidcUserTokenVerifier } from './management/oidc/oidc-user-token-verifier.js';
export { type LinkDraft, ManagementService, type OneTimeLink } from './management/user-sessions/management-service.js';
export {
  type AuthenticatedUser,
  type SignInRequest,
  UserAuthenticator,
} from './management/user-sessions/user-authenticator.js';
export { GuardedMediaFetcher } from './media/guarded-media-fetcher.js';
export { type FetchedMedia, MediaFetcher, MediaRefusedError, type MediaRequest } from './media/media-fetcher.js';
export type { MediaOptions } from './media/media-options.js';
export { MessagingModule } from './messaging/messaging.module.js';
export { MessagingCore } from './messaging/messaging-core.module.js';
export type {
  CampaignsModuleAsyncOptions,
  CampaignsModuleOptions,
  LoginHooksModuleAsyncOptions,
  LoginHooksModuleOptions,
  ManagementModuleAsyncOptions,
  ManagementModuleOptions,
  MessagingAsyncOptions,
  MessagingOptions,
  MsgappModuleAsyncOptions,
  MsgappModuleOptions,
  OtpModuleAsyncOptions,
  OtpModuleOptions,
  SmsModuleAsyncOptions,
  SmsModuleOptions,
  WebhooksModuleAsyncOptions,
  WebhooksModuleOptions,
} from './messaging/module-options.js';
export { messagingMigrations } from './messaging/schema.js';
export { TypeormStorage, type TypeormStorageOptions } from './messaging/typeorm-storage.js';
export { channelToken } from './msgapp/channel-token.js';
export type { MsgappMessage, MsgappSendResult, PendingSession, SessionView } from './msgapp/msgapp.api.js';
export { MsgappModule } from './msgapp/msgapp.module.js';
export type { MsgappOptions } from './msgapp/msgapp-options.js';
export type { MsgappListQuery } from './msgapp/msgapp-query.js';
export { type MsgappFile, type MsgappSendOptions, MsgappService, type MsgappText } from './msgapp/msgapp-service.js';
export { MsgappTransport } from './msgapp/msgapp-transport.js';
export { SessionLostError } from './msgapp/sessions/credential-vault.js';
export { SessionManager } from './msgapp/sessions/session-manager.js';
export { PostgresNotifier, type PostgresNotifierOptions } from './notifiers/postgres-notifier.js';
export { describeMessaging } from './openapi/describe-messaging.js';
export { runOperator } from './operator/run-operator.js';
export type { OtpSendResult } from './otp/otp.api.js';
export { OtpModule } from './otp/otp.module.js';
export type { OtpLimits } from './otp/otp-limits.js';
export type { OtpOptions } from './otp/otp-options.js';
export type { VerifyOutcome } from './otp/otp-results.js';
export { type OtpSendOptions, OtpService, type OtpToSend, type OtpToVerify } from './otp/otp-service.js';
export type { DispatchOptions } from './outbox/delivery/dispatch-options.js';
export type { ProcessRole } from './outbox/delivery/process-role.api.js';
export { type ErasureResult, ErasureService } from './outbox/retention/erasure-service.js';
export type { RetentionOptions } from './outbox/retention/retention-options.js';
export { SandboxModule } from './sandbox/sandbox.module.js';
export { SandboxMsgappTransport } from './sandbox/sandbox-msgapp-transport.js';
export type { SandboxOptions } from './sandbox/sandbox-options.js';
export { SandboxSmsTransport } from './sandbox/sandbox-sms-transport.js';
export { type OptOutEntry, OptOutService } from './sms/opt-out/opt-out-service.js';
export { type Measurement, measure } from './sms/segmentation.js';
export type { SmsDetails, SmsQuote, SmsRecipient, SmsSendResult, SmsSummary } from './sms/sms.api.js';
export { SmsModule } from './sms/sms.module.js';
export type { SmsOptions } from './sms/sms-options.js';
export type { SmsListQuery } from './sms/sms-query.js';
export { type SmsSendOptions, SmsService, type SmsToSend } from './sms/sms-service.js';
export { SmsTransport } from './sms/sms-transport.js';
export type { Template } from './sms/templates/template.api.js';
export { type TemplateDraft, TemplateService } from './sms/templates/template-service.js';
export { MessagingStorage } from './storage/messaging-storage.js';
export type {} from './transports/index.js';
export type {} from './types.js';
export type { EndpointView, EndpointWithSecret } from './webhooks/endpoints/endpoint.api.js';
export type { EndpointDraft } from './webhooks/endpoints/endpoint-input.js';
export { WebhookService } from './webhooks/endpoints/webhook-service.js';
export { EventService } from './webhooks/feed/event-service.js';
export type { WebhookOptions } from './webhooks/webhook-options.js';
export { WebhooksModule } from './webhooks/webhooks.module.js';
