import type { Capability } from '../../core/capability.js';
import { EventStreams } from '../../http/event-streams.js';
import { ManagedAccountStore } from './accounts/managed-account-store.js';
import { ManagedAccounts } from './accounts/managed-accounts.js';
import { managedAccountsOpenapi } from './accounts/managed-accounts.openapi.js';
import { ManagedSignatures } from './accounts/managed-signatures.js';
import { CheckRunStore } from './ledger-checks/check-run-store.js';
import { LedgerCheckStream } from './ledger-checks/ledger-check-stream.js';
import { LedgerChecks } from './ledger-checks/ledger-checks.js';
import { ManagedSessionStore } from './managed-session-store.js';
import { ManagedSessions } from './managed-sessions.js';
import { ManagedCarriers } from './operations/managed-carriers.js';
import { managedCarriersOpenapi } from './operations/managed-carriers.openapi.js';
import { ManagedQueues } from './operations/managed-queues.js';
import { managedQueuesOpenapi } from './operations/managed-queues.openapi.js';
import { OperatingControl } from './operations/operating-control.js';
import { operationsOpenapi } from './operations.openapi.js';
import { overviewOpenapi } from './overview.openapi.js';
import { SystemService } from './system-service.js';

const SERVICES = [
  ManagedAccounts,
  ManagedSignatures,
  ManagedQueues,
  ManagedCarriers,
  ManagedSessions,
  LedgerChecks,
  SystemService,
];

/** The routes of operators, below `/manage`. */
export const OPERATOR_CAPABILITY = {
  stores: [ManagedAccountStore, OperatingControl, ManagedSessionStore, CheckRunStore],
  controllers: [
    managedAccountsOpenapi,
    managedQueuesOpenapi,
    managedCarriersOpenapi,
    overviewOpenapi,
    operationsOpenapi,
  ],
  providers: [...SERVICES, LedgerCheckStream, EventStreams],
  exports: SERVICES,
} satisfies Capability;
