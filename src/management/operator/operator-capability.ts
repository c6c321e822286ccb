import type { Capability } from '../../core/capability.js';
import { EventStreams } from '../../http/event-streams.js';
import { CheckRunStore } from './check-run-store.js';
import { LedgerCheckStream } from './ledger-check-stream.js';
import { LedgerChecks } from './ledger-checks.js';
import { ManagedAccountStore } from './managed-account-store.js';
import { ManagedAccounts } from './managed-accounts.js';
import { managedAccountsOpenapi } from './managed-accounts.openapi.js';
import { ManagedCarriers } from './managed-carriers.js';
import { managedCarriersOpenapi } from './managed-carriers.openapi.js';
import { ManagedQueues } from './managed-queues.js';
import { managedQueuesOpenapi } from './managed-queues.openapi.js';
import { ManagedSessionStore } from './managed-session-store.js';
import { ManagedSessions } from './managed-sessions.js';
import { ManagedSignatures } from './managed-signatures.js';
import { OperatingControl } from './operating-control.js';
import { operationsOpenapi } from './operations.openapi.js';
import { overviewOpenapi } from './overview.openapi.js';
import { SystemService } from './system-service.js';

const SERVICES = [
  ...[ManagedAccounts, ManagedSignatures, ManagedQueues, ManagedCarriers, ManagedSessions, LedgerChecks, SystemService],
];

/** What operators do, below `/manage`. */
export const OPERATOR_CAPABILITY = {
  stores: [
    ...[{ port: ManagedAccountStore }, { port: OperatingControl }, { port: ManagedSessionStore }],
    { port: CheckRunStore },
  ],
  controllers: [
    ...[managedAccountsOpenapi, managedQueuesOpenapi, managedCarriersOpenapi, overviewOpenapi, operationsOpenapi],
  ],
  providers: [...SERVICES, LedgerCheckStream, EventStreams],
  exports: SERVICES,
} satisfies Capability;
