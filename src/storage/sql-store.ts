import { AuditLog } from '../accounts/audit/audit.js';
import { TypeormAuditLog } from '../accounts/audit/audit-sql.js';
import type { StoreDefinition } from '../core/messaging-storage.js';
import { EventLog } from '../events/event-log.js';
import { TypeormEventLog } from '../events/event-log-sql.js';
import type { EventRecorder } from '../events/event-recorder.js';
import { TypeormManagedAccountStore } from '../management/operator/accounts/managed-account-sql.js';
import { ManagedAccountStore } from '../management/operator/accounts/managed-account-store.js';
import { CheckRunStore } from '../management/operator/ledger-checks/check-run-store.js';
import { TypeormCheckRunStore } from '../management/operator/ledger-checks/check-runs-sql.js';
import { TypeormManagedSessionStore } from '../management/operator/managed-session-sql.js';
import { ManagedSessionStore } from '../management/operator/managed-session-store.js';
import { OperatingControl } from '../management/operator/operations/operating-control.js';
import { TypeormOperatingControl } from '../management/operator/operations/operating-sql.js';
import { TypeormUserSessionStore } from '../management/session/user-session-sql.js';
import { UserSessionStore } from '../management/session/user-session-store.js';
import { TypeormOverviewStore } from '../management/usage/overview-sql.js';
import { OverviewStore } from '../management/usage/overview-store.js';
import { TypeormUsageStore } from '../management/usage/usage-sql.js';
import { UsageStore } from '../management/usage/usage-store.js';
import { TypeormAddressStore } from '../msgapp/address-sql.js';
import { AddressStore } from '../msgapp/address-store.js';
import { TypeormReceivedMessageStore } from '../msgapp/received/received-message-sql.js';
import { ReceivedMessageStore } from '../msgapp/received/received-message-store.js';
import { TypeormSessionStore } from '../msgapp/sessions/session-sql.js';
import { SessionStore } from '../msgapp/sessions/session-store.js';
import { TypeormRetentionStore } from '../outbox/retention/retention-sql.js';
import { RetentionStore } from '../outbox/retention/retention-store.js';
import { TypeormPhoneStore } from '../sandbox/phones/phone-sql.js';
import { PhoneStore } from '../sandbox/phones/phone-store.js';
import { TypeormReceivedSmsStore } from '../sms/inbound/received-sms-sql.js';
import { ReceivedSmsStore } from '../sms/inbound/received-sms-store.js';
import { TypeormOptOutStore } from '../sms/opt-out/opt-out-sql.js';
import { OptOutStore } from '../sms/opt-out/opt-out-store.js';
import { TypeormPartStore } from '../sms/receipts/part-sql.js';
import { PartStore } from '../sms/receipts/part-store.js';
import { TypeormCallStore } from '../webhooks/calls/call-sql.js';
import { CallStore } from '../webhooks/calls/call-store.js';
import { TypeormEndpointStore } from '../webhooks/endpoints/endpoint-sql.js';
import { EndpointStore } from '../webhooks/endpoints/endpoint-store.js';
import type { Executor } from './engine/executor.js';
import type { SchemaGroup } from './schema/versions.js';

/** A store in SQL that a capability brings, with its tables. */
export interface SqlStore<S extends object = object> extends StoreDefinition<S> {
  /** Recorded as `+<name>/<version>`. Names of tables begin with `messaging_` and the group's name. */
  readonly tables: SchemaGroup;
  readonly make: (executor: Executor) => S;
}

export function isSqlStore(definition: StoreDefinition): definition is SqlStore {
  return 'tables' in definition && 'make' in definition;
}

/** A store whose tables are part of `SCHEMA`. */
interface BuiltInStore extends StoreDefinition {
  readonly make: (executor: Executor, recorder: EventRecorder) => object;
}

/** The stores whose tables are part of `SCHEMA`. */
export const BUILT_IN_STORES: readonly BuiltInStore[] = [
  { port: AuditLog, make: (executor) => new TypeormAuditLog(executor) },
  { port: ManagedAccountStore, make: (executor) => new TypeormManagedAccountStore(executor) },
  { port: ManagedSessionStore, make: (executor) => new TypeormManagedSessionStore(executor) },
  { port: CheckRunStore, make: (executor) => new TypeormCheckRunStore(executor) },
  { port: OperatingControl, make: (executor) => new TypeormOperatingControl(executor) },
  { port: EventLog, make: (executor, recorder) => new TypeormEventLog(executor, recorder) },
  { port: CallStore, make: (executor, recorder) => new TypeormCallStore(executor, recorder) },
  { port: PartStore, make: (executor, recorder) => new TypeormPartStore(executor, recorder) },
  { port: OptOutStore, make: (executor, recorder) => new TypeormOptOutStore(executor, recorder) },
  { port: ReceivedSmsStore, make: (executor, recorder) => new TypeormReceivedSmsStore(executor, recorder) },
  { port: ReceivedMessageStore, make: (executor, recorder) => new TypeormReceivedMessageStore(executor, recorder) },
  { port: AddressStore, make: (executor) => new TypeormAddressStore(executor) },
  { port: SessionStore, make: (executor, recorder) => new TypeormSessionStore(executor, recorder) },
  { port: RetentionStore, make: (executor) => new TypeormRetentionStore(executor) },
  { port: EndpointStore, make: (executor) => new TypeormEndpointStore(executor) },
  { port: OverviewStore, make: (executor) => new TypeormOverviewStore(executor) },
  { port: UsageStore, make: (executor) => new TypeormUsageStore(executor) },
  { port: PhoneStore, make: (executor) => new TypeormPhoneStore(executor) },
  { port: UserSessionStore, make: (executor) => new TypeormUserSessionStore(executor) },
];
