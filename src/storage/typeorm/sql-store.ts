import { AuditLog } from '../../accounts/audit.js';
import type { StoreDefinition } from '../../core/messaging-storage.js';
import { EventLog } from '../../events/event-log.js';
import { CheckRunStore } from '../../management/operator/check-run-store.js';
import { ManagedAccountStore } from '../../management/operator/managed-account-store.js';
import { ManagedSessionStore } from '../../management/operator/managed-session-store.js';
import { OperatingControl } from '../../management/operator/operating-control.js';
import { UserSessionStore } from '../../management/session/user-session-store.js';
import { OverviewStore } from '../../management/usage/overview-store.js';
import { UsageStore } from '../../management/usage/usage-store.js';
import { AddressStore } from '../../msgapp/address-store.js';
import { ReceivedMessageStore } from '../../msgapp/received/received-message-store.js';
import { SessionStore } from '../../msgapp/sessions/session-store.js';
import { RetentionStore } from '../../outbox/retention/retention-store.js';
import { PhoneStore } from '../../sandbox/phone-store.js';
import { ReceivedSmsStore } from '../../sms/inbound/received-sms-store.js';
import { OptOutStore } from '../../sms/opt-out/opt-out-store.js';
import { PartStore } from '../../sms/receipts/part-store.js';
import { CallStore } from '../../webhooks/calls/call-store.js';
import { EndpointStore } from '../../webhooks/endpoints/endpoint-store.js';
import type { Executor } from './engine/executor.js';
import type { SchemaGroup } from './schema/versions.js';
import { TypeormAuditLog } from './stores/audit-log.js';
import { TypeormCheckRunStore } from './stores/check-runs.js';
import { TypeormEventLog } from './stores/events/event-log.js';
import type { EventRecorder } from './stores/events/event-recorder.js';
import { TypeormManagedAccountStore } from './stores/managed-accounts.js';
import { TypeormManagedSessionStore } from './stores/managed-sessions.js';
import { TypeormUserSessionStore } from './stores/management/user-session-store.js';
import { TypeormAddressStore } from './stores/msgapp/address-store.js';
import { TypeormReceivedMessageStore } from './stores/msgapp/received-message-store.js';
import { TypeormSessionStore } from './stores/msgapp/session-store.js';
import { TypeormOperatingControl } from './stores/operating.js';
import { TypeormPhoneStore } from './stores/phone-store.js';
import { TypeormRetentionStore } from './stores/retention/retention-store.js';
import { TypeormOptOutStore } from './stores/sms/opt-out-store.js';
import { TypeormPartStore } from './stores/sms/part-store.js';
import { TypeormReceivedSmsStore } from './stores/sms/received-sms-store.js';
import { TypeormOverviewStore } from './stores/usage/overview-store.js';
import { TypeormUsageStore } from './stores/usage/usage-store.js';
import { TypeormCallStore } from './stores/webhooks/call-store.js';
import { TypeormEndpointStore } from './stores/webhooks/endpoint-store.js';

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
