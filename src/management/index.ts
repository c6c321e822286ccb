/** The management API for hosts without its routes: the services behind them, and the shapes that these take and give. */

export { type AuditListQuery, AuditService } from './audit/audit-service.js';
export type { CodeRefusals, CodesOfCountry, CodesView } from './codes/codes.api.js';
export { type CodesPeriod, CodesService } from './codes/codes-service.js';
export {
  type KeyCallOptions,
  type KeyListQuery,
  KeyService,
  type NewKeyAnswer,
  type NewKeyDraft,
} from './keys/key-service.js';
export type { ClaimSource, OidcAlgorithm, OidcClaims } from './oidc/oidc-options.js';
export type {
  AccountPage,
  AccountView,
  ManagedSignaturePage,
  ManagedSignatureView,
  PostingView,
} from './operator/accounts/managed-account.api.js';
export {
  type AccountDraft,
  type AccountListQuery,
  ManagedAccounts,
  type NewAccount,
  type PostingDraft,
} from './operator/accounts/managed-accounts.js';
export { ManagedSignatures, type SignatureListQuery } from './operator/accounts/managed-signatures.js';
export { LedgerChecks } from './operator/ledger-checks/ledger-checks.js';
export type { ManagedSessionPage, ManagedSessionView } from './operator/managed-session.api.js';
export { ManagedSessions, type SessionListQuery } from './operator/managed-sessions.js';
export type {
  CarrierLinkView,
  CarrierRouteView,
  CarriersView,
  UnreadNumberView,
} from './operator/operations/carriers.api.js';
export { ManagedCarriers } from './operator/operations/managed-carriers.js';
export { ManagedQueues, type PauseDraft } from './operator/operations/managed-queues.js';
export type { PausesView, PauseView, QueueDepthView, QueuesView } from './operator/operations/queues.api.js';
export type { FindingView, LedgerCheckView, SystemView, WorkerView } from './operator/operations.api.js';
export type { OperatorCallOptions } from './operator/operator-call.js';
export { SystemService } from './operator/system-service.js';
export type { AttentionView, OverviewView } from './usage/overview.api.js';
export { OverviewService } from './usage/overview-service.js';
export type { UsageAmountsView, UsageItemView, UsageView } from './usage/usage.api.js';
export { type UsagePeriod, UsageService } from './usage/usage-service.js';
export type { EndedUser, LinkOptions } from './user-sessions/management-service.js';
export type { LinkView, SessionUserView, UserSessionView } from './user-sessions/user-session.api.js';
