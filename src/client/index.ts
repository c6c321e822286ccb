export type { Balance } from '../billing/balance.api.js';
export type {
  CampaignQuote,
  CampaignRecipient,
  CampaignTest,
  CampaignView as Campaign,
  ImportFault,
  ImportResult,
} from '../campaigns/campaign.api.js';
export type * from '../events/event-types.js';
export type {
  CampaignData,
  CodeData,
  ContactData,
  DeliveryData,
  EndpointEventHead,
  KeyData,
  Metadata,
  OptOutData,
  PostingData,
  ReceivedMessage,
  ReceivedSms,
  SendData,
  SessionData,
  SignatureData,
} from '../events/events.api.js';
export type {
  LoginHookCallView as LoginHookCall,
  LoginHookView as LoginHook,
  LoginHookWithSecret,
} from '../hooks/login-hook.api.js';
export type {
  AttemptView as WebhookAttempt,
  EndpointView as Webhook,
  EndpointWithSecret as WebhookWithSecret,
  EventsCalled,
  PingResult as WebhookPing,
} from '../webhooks/endpoints/endpoint.api.js';
export type { EventTypeView } from '../webhooks/feed/feed.api.js';
export { MessagingApiError } from './api-error.js';
export {
  type CallOptions,
  type ClientOptions,
  newIdempotencyKey,
  type SendOptions,
  type StreamCallOptions,
} from './caller.js';
export type * from './campaigns.js';
export type * from './events.js';
export type * from './hooks.js';
export type { Page } from './listing.js';
export { Listing } from './listing.js';
export { MessagingClient } from './messaging-client.js';
export type * from './msgapp.js';
export type * from './otp.js';
export type * from './sms.js';
export type * from './templates.js';
export { verifyWebhook, type WebhookCall, WebhookRefusedError } from './verify-webhook.js';
export type * from './webhooks.js';
