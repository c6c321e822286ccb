import type { AccountRole, AccountState, OperatorRole } from './account-types.js';

export type {
  AccountView as ManagedAccount,
  ManagedSignatureView as ManagedSignature,
  PostingView as Posting,
} from '../../management/operator/accounts/managed-account.api.js';
export type { ManagedSessionView as ManagedSession } from '../../management/operator/managed-session.api.js';
export type {
  CarrierLinkView as CarrierLink,
  CarrierRouteView as CarrierRoute,
  CarriersView as Carriers,
  UnreadNumberView as UnreadNumber,
} from '../../management/operator/operations/carriers.api.js';
export type {
  PauseView as QueuePause,
  QueueDepthView as QueueDepth,
  QueuesView as Queues,
} from '../../management/operator/operations/queues.api.js';
export type { LedgerCheckView as LedgerCheck, SystemView as System } from '../../management/operator/operations.api.js';
export type { LinkView as Link } from '../../management/user-sessions/user-session.api.js';

/** Which accounts to list. */
export interface ManagedAccountsQuery {
  /** The beginning of an id or of a name. */
  readonly query?: string | undefined;
  readonly state?: AccountState | undefined;
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
}

/** A posting. If it is repeated with the same reference and the same units, nothing is posted again. */
export interface PostingOrder {
  readonly units: number;
  readonly reference: string;
  readonly note?: string | undefined;
}

/** The user that a one-time link signs in. */
export interface LinkOrder {
  /** Required for a role of an account. */
  readonly account?: string | undefined;
  readonly role: AccountRole | OperatorRole;
  readonly subject?: string | undefined;
  /** How many minutes the link can be used. Default 10. */
  readonly minutes?: number | undefined;
}

/** The part of the queue that is paused: a channel, an account, or an account on a channel. */
export interface QueuePart {
  readonly channel?: string | null | undefined;
  readonly account?: string | null | undefined;
}

/** Which linked numbers to list. */
export interface ManagedSessionsQuery {
  readonly account?: string | undefined;
  readonly status?: string | undefined;
  readonly limit?: number | undefined;
}
