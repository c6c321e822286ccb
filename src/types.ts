/**
 * The types that signatures of the other entries mention and that a host seldom writes. A compiler which emits declarations needs
 * a name for each of them.
 */

export type { SignatureStatus } from './accounts/account.api.js';
export type { LegacyBearerOptions } from './accounts/account-options.js';
export type { Signature } from './accounts/account-records.js';
export type {
  AccountCallOptions,
  ChangeKeyCallOptions,
  IssueKeyCallOptions,
  ListedPage,
} from './accounts/account-service.js';
export type { AuditAction, AuditPage, AuditView } from './accounts/audit/audit.api.js';
export type { AuditEntry, AuditFields, Author } from './accounts/audit/audit-entry.js';
export type { NewApiKey } from './accounts/keys/api-key.js';
export type { RoledUser } from './accounts/keys/authenticator.js';
export type { KeyPage, KeyView, NewKeyView } from './accounts/keys/key.api.js';
export type { CallerKey } from './accounts/keys/key-directory.js';
export type { OperatorRole } from './accounts/keys/permissions.js';
export type { SignatureCallOptions } from './accounts/signatures/signature-service.js';
export type { LedgerPart, LedgerView } from './billing/ledger.api.js';
export type { LedgerCheck, LedgerEntry, LedgerProgress } from './billing/ledger-entry.js';
export type {
  CampaignPage,
  CampaignQuote,
  CampaignRecipient,
  CampaignRecipientPage,
  CampaignRemoved,
  CampaignTest,
  ImportFault,
  ImportResult,
  RecipientStatus,
} from './campaigns/campaign.api.js';
export type {
  CampaignAnswer,
  CampaignCallOptions,
  CampaignListQuery,
  TestRecipient,
} from './campaigns/campaign-service.js';
export type { CampaignRecipientsQuery, ShowRecipients } from './campaigns/recipients/recipient-listing.js';
export type { PageRequest } from './common/listing/page.js';
export type { OptionalFields } from './common/optional-fields.js';
export type { StrictNumbers } from './common/phone-numbers/recipient-number.js';
export type { HistogramMetric, NewSpan, Scrape, SpanKind } from './common/telemetry/telemetry.js';
export type { TextValues } from './common/text/catalogue.js';
export type { Variables } from './common/text/personal-text.js';
export type {
  CoreFactoryOptions,
  CoreGraphOptions,
  FactoryImports,
  OptionsFromFactory,
  OptionsSource,
  SharedCore,
} from './core/core-options.js';
export type { HealthCheckName } from './core/health-check.api.js';
export type { PortSource } from './core/port-provider.js';
export type { TelemetryRoute, TelemetrySource } from './core/telemetry-source.js';
export type { PublishedStatus, WaitingStatus } from './events/delivery-status.js';
export type { EventData, NewEvent, TypedData } from './events/event-types.js';
export type { DeliveryEventType, EventDescription, EventHead, OptOutSource } from './events/events.api.js';
export type { CalledLoginHook, HostEvents, SegmentDifference } from './events/messaging-events.js';
export type { HealthCheckView } from './health/health.api.js';
export type {
  LoginHookCallList,
  LoginHookKind,
  LoginHookList,
  LoginHookRemoved,
  LoginHookTested,
} from './hooks/login-hook.api.js';
export type { HookMapping, HookProof } from './hooks/login-hook.js';
export type { LoginHookRotation } from './hooks/login-hook-input.js';
export type { LoginHookCallOptions, LoginHookReply } from './hooks/login-hook-service.js';
export type { MediaAllow } from './media/media-options.js';
export type {
  CampaignFactoryOptions,
  LoginHookFactoryOptions,
  ManagementFactoryOptions,
  ManagementGraphOptions,
  MsgappFactoryOptions,
  MsgappGraphOptions,
  OneOrMore,
  OtpFactoryOptions,
  SmsGraphOptions,
  WebhookFactoryOptions,
} from './messaging/module-options.js';
export type { TypeormStorageSource } from './messaging/typeorm-storage.js';
export type { AccountSessions, MsgappPage, NoSessions, SessionsView } from './msgapp/msgapp.api.js';
export type { ConnectLimits, MsgappTariff } from './msgapp/msgapp-options.js';
export type { QuotePlace } from './msgapp/received/received-message-store.js';
export type { CredentialsKeyOption } from './msgapp/sessions/credential-cipher.js';
export type { LinkNews } from './msgapp/sessions/qr-stream.js';
export type { PostgresNotifierSource } from './notifiers/postgres-notifier.js';
export type { OpenApiDocument, Tag as OpenApiTag } from './openapi/openapi-document.js';
export type { OperatorProgram } from './operator/run-operator.js';
export type { OtpWindow } from './otp/challenge.js';
export type { OtpPepper, OtpPepperOption } from './otp/otp-codes.js';
export type { CountryBreaker, OtpPreset } from './otp/otp-limits.js';
export type { OtpServiceOptions } from './otp/otp-text.js';
export type { SendKey } from './outbox/accept/send.js';
export type { SendStep, SteppedSend } from './outbox/accept/send-step.js';
export type { DeliveryTiming } from './outbox/delivery/delivery-result.js';
export type { DirectDelivery } from './outbox/delivery/hand-over.js';
export type { Acceptance } from './outbox/outbox.js';
export type { MessagePage } from './outbox/outbox-records.js';
export type { Priority, SendPriority } from './outbox/queue/priority.api.js';
export type { CancelOptions } from './outbox/schedule/cancellation.js';
export type { ScheduleInput } from './outbox/schedule/read-schedule.js';
export type { RescheduleOrder, ScheduleChange } from './outbox/schedule/reschedule.js';
export type { Schedule } from './outbox/schedule/schedule.js';
export type { ExpiredSlice, WaitingExpiryOrder } from './outbox/schedule/validity.js';
export type { CancelCount, CanceledSlice, CancelOrder } from './outbox/settle/cancel.js';
export type { DeliveryWindow, WindowInput } from './outbox/windows/window.api.js';
export type { Json } from './schemas/schema.js';
export type { OptOutCallOptions, OptOutScope } from './sms/opt-out/opt-out-service.js';
export type { OptOutWordsOption } from './sms/opt-out/opt-out-words.js';
export type { Encoding } from './sms/segmentation.js';
export type { SmsAttempt, SmsPage, SmsRecipientPage } from './sms/sms.api.js';
export type { SmsWindowsOption } from './sms/sms-options.js';
export type { SmsRecipientsQuery } from './sms/sms-query.js';
export type { RescheduleOptions } from './sms/sms-service.js';
export type { TemplatePage, TemplateRemoved } from './sms/templates/template.api.js';
export type { TemplateCallOptions, TemplateChange, TemplateListQuery } from './sms/templates/template-service.js';
export type { StoredTemplate } from './sms/templates/template-store.js';
export type { PersonalRecipient } from './sms/texts/addressees.js';
export type { Transliteration } from './sms/transliteration.js';
export type { StorageFinding, StorageHealth } from './storage/messaging-storage.js';
export type { SqlStorageOptions } from './storage/sql-storage.js';
export type { MeasureOrder, StorageMeasures } from './telemetry/storage-meter.js';
export type {
  AttemptPage,
  AttemptView,
  EndpointOrdering,
  EndpointPage,
  EndpointRemoved,
  PingResult,
  WebhookSignature,
} from './webhooks/endpoints/endpoint.api.js';
export type { AttemptListQuery, WebhookListQuery } from './webhooks/endpoints/endpoint-history.js';
export type { EndpointChanges, ReplayDraft } from './webhooks/endpoints/endpoint-input.js';
export type { WebhookAnswer, WebhookCallOptions } from './webhooks/endpoints/webhook-service.js';
export type { EventPageRequest, EventPlace } from './webhooks/feed/event-service.js';
export type { EventFeedPage, EventTypes } from './webhooks/feed/feed.api.js';
