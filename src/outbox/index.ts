/** For channels outside this module: the base class, and the types with which sends are accepted, charged and delivered. */

export type { RefusalCode } from './accept/decide.js';
export type { IdempotencyKey, Payload, Recipient, Send, SendKey } from './accept/send.js';
export { Channel, Channels, type Draft, type DraftRequest, type StoreEarlyResults } from './channel.js';
export type { DeliveryUpdate } from './delivery-state.js';
export type { IdempotentRequest } from './idempotency.js';
export { type Acceptance, type AcceptOptions, Outbox } from './outbox.js';
export type { Delivery } from './outbox-records.js';
export type {
  PolicyDecision,
  PolicyRecord,
  PolicyRefusal,
  RecordChanges,
  SeenRecord,
  SeenRecords,
  SendPolicy,
} from './policy/send-policy.js';
export type { Priority } from './queue/priority.api.js';
