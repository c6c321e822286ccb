/**
 * For authors of a storage, of a dialect, or of a store of their own: the stores, their records, and the tools for SQL.
 */

export type { AccountState } from '../accounts/account.api.js';
export {
  type EarlierReply,
  type KeptReply,
  type KeyDefinition,
  type SignatureDecision,
  type StoredApiKey,
  UNRESTRICTED,
} from '../accounts/account-records.js';
export { AccountStore } from '../accounts/account-store.js';
export type { LedgerKind } from '../billing/ledger.api.js';
export {
  type AnsweredPosting,
  type GivenReply,
  type LedgerEntry,
  type LedgerPosting,
  type LedgerQuery,
  MAX_BALANCE,
  MAX_FAULTS,
  type PostingAnswer,
  type PostingReply,
  postedBefore,
} from '../billing/ledger-entry.js';
export { LedgerStore } from '../billing/ledger-store.js';
export type { StoredReply } from '../common/idempotency-key.js';
export type { CompletedSend } from '../events/delivery-transition.js';
export { EventLog } from '../events/event-log.js';
export { deliveryEvents } from '../events/events-of.js';
export type { SessionStatus } from '../events/session-status.js';
export { isFinal, maySessionMove } from '../events/session-status.js';
export type {
  AddedEvents,
  EventEpoch,
  EventLogState,
  EventPage,
  EventQuery,
  LoggedEvent,
  StoredEvent,
} from '../events/stored-event.js';
export { MediaStore } from '../media/media-store.js';
export { type AddressKey, AddressStore, type KnownAddress } from '../msgapp/address-store.js';
export type { Contact, ContactScope, Sighting } from '../msgapp/contacts/contact.js';
export { ContactStore } from '../msgapp/contacts/contact-store.js';
export { ActStore, type ReceivedAct } from '../msgapp/received/act-store.js';
export {
  type NewReceived,
  type QuotePlace,
  type ReceivedEvents,
  ReceivedMessageStore,
  type StoredReceived,
} from '../msgapp/received/received-message-store.js';
export type {
  CredentialChange,
  CredentialReplacement,
  KeptCredential,
} from '../msgapp/sessions/session-credentials.js';
export type { SessionLimits } from '../msgapp/sessions/session-limits.js';
export type {
  NewSession,
  SessionLease,
  SessionMove,
  SessionTransition,
  StoredSession,
} from '../msgapp/sessions/session-records.js';
export { SessionStore } from '../msgapp/sessions/session-store.js';
export {
  type Decide,
  type Decision,
  decide,
  type KeySpending,
  type Seen,
  type SendDecision,
} from '../outbox/accept/decide.js';
export { refusedTransitions } from '../outbox/accept/refusals.js';
export {
  type AttemptEntry,
  type DeliveryChange,
  type DeliveryRow,
  type DeliveryUpdate,
  type EventEntry,
  nextState,
  type TrailEntry,
} from '../outbox/delivery-state.js';
export {
  type ClaimOrder,
  type CommitOutcome,
  type Delivery,
  type DeliveryTransition,
  type ExpiryOrder,
  FIRST_RECIPIENTS,
  type MessageQuery,
  type RecipientDetails,
  type RecipientPage,
  type RecipientQuery,
  type ReferredDelivery,
  SHOWN_ATTEMPTS,
  type StoredMessage,
  type StoredRecipient,
  type TrackedRecipient,
  type TrailStep,
  type WaitFor,
} from '../outbox/outbox-records.js';
export { OutboxStore } from '../outbox/outbox-store.js';
export { PolicyStore } from '../outbox/policy/policy-store.js';
export type { RecordStep } from '../outbox/policy/record-step.js';
export type { PolicyRecord, SeenRecord, SeenRecords } from '../outbox/policy/send-policy.js';
export { PRIORITIES, type Priority } from '../outbox/queue/priority.api.js';
export { PriorityTurns } from '../outbox/queue/priority-turns.js';
export type { RemoveContent, RemovedPayload } from '../outbox/retention/removed-payload.js';
export type { ErasableDelivery, RetentionOrder, Walked } from '../outbox/retention/retention-records.js';
export { RetentionStore } from '../outbox/retention/retention-store.js';
export {
  type PhoneDelivery,
  type PhoneFile,
  type PhoneMedia,
  type PhoneMessage,
  PhoneStore,
  type ScreenDelivery,
  type ScreenMessage,
} from '../sandbox/phones/phone-store.js';
export {
  type DueTextsOrder,
  type JoinedParts,
  type LongText,
  type LongTextContent,
  type NewPart,
  ReceivedSmsStore,
  type ReceivedText,
  type WriterQuery,
} from '../sms/inbound/received-sms-store.js';
export {
  type AuditOf,
  EVERY_ACCOUNT,
  type OptOut,
  type OptOutKey,
  type OptOutQuery,
  OptOutStore,
} from '../sms/opt-out/opt-out-store.js';
export { type Parking, type PartPurgeCount, PartStore } from '../sms/receipts/part-store.js';
export type { DatedReceipt, PartStatus, SmsPart, TakenSms } from '../sms/receipts/sms-part.js';
export { StorageMeter } from '../telemetry/storage-meter.js';
export type { EndpointOrdering, WebhookSignature } from '../webhooks/endpoints/endpoint.api.js';
export type {
  DisabledReason,
  Endpoint,
  EndpointAttempt,
  EndpointBatch,
  EndpointDefinition,
  NewEndpoint,
  SecretVersion,
} from '../webhooks/endpoints/endpoint.js';
export {
  type AttemptQuery,
  type EndpointAnswer,
  type EndpointKey,
  MAX_ENDPOINTS,
} from '../webhooks/endpoints/endpoint-records.js';
export { EndpointStore } from '../webhooks/endpoints/endpoint-store.js';
export { type Behind, type Change, type ColumnType, Dialect, type IfLocked } from './dialect.js';
export type { DialectQuery, DialectSource } from './dialect-for.js';
export type { PostgresConnection, PostgresQuery, StorageConnection } from './engine/connection.js';
export type { Pooler } from './engine/data-source.js';
export { Database, type StoreClass, type Work } from './engine/database.js';
export { type Operation, type Row, rowsOf, type Statement, type StatementResult, write } from './engine/operation.js';
export {
  bytesOf,
  type FirstRows,
  type GroupSearch,
  integerOf,
  type ListingIndex,
  optionalInteger,
  optionalText,
  type PlacesUpdate,
  type RangeLocks,
  type RecipientIndex,
  type RowShape,
  type RowsDelete,
  type RowsInsert,
  type RowsUpdate,
  type SessionIndex,
  textOf,
} from './engine/rows.js';
export {
  MessagingStorage,
  type StorageFinding,
  type StorageHealth,
} from './messaging-storage.js';
export { MysqlDialect } from './mysql/mysql-dialect.js';
export { type MysqlServer, mysqlServerOf } from './mysql/mysql-server.js';
export { PostgresDialect } from './postgres/postgres-dialect.js';
export { type PostgresServer, postgresServerOf } from './postgres/postgres-server.js';
export type { SchemaGroup, SchemaVersion } from './schema/versions.js';
export { SqliteDialect } from './sqlite/sqlite-dialect.js';
