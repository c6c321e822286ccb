import type { KeyScope } from '../../accounts/keys/permissions.js';
import type { LedgerView as LedgerEntry } from '../../billing/ledger.api.js';
import type { UsageGroup } from '../../management/usage/usage.api.js';

export type { AccountState } from '../../accounts/account.api.js';
export type { AuditView as AuditEntry } from '../../accounts/audit/audit.api.js';
export type { KeyView as Key, NewKeyView as KeyWithSecret } from '../../accounts/keys/key.api.js';
export type { AccountRole, KeyScope, OperatorRole } from '../../accounts/keys/permissions.js';
export type { LedgerView as LedgerEntry } from '../../billing/ledger.api.js';
export type { CodesView as CodeFigures } from '../../management/codes/codes.api.js';
export type { MeView as Me, StandstillView as Standstill } from '../../management/me/me.api.js';
export type { OptOutView as OptOut } from '../../management/optouts/optout.api.js';
export type { SignatureView as Signature } from '../../management/signatures/signature.api.js';
export type { OverviewView as Overview } from '../../management/usage/overview.api.js';
export type {
  UsageAmountsView as UsageSum,
  UsageItemView as UsageRow,
  UsageView as Usage,
} from '../../management/usage/usage.api.js';

/** Moments are ISO 8601, UTC. */

/** The rights and limits of a new key. */
export interface KeyOrder {
  readonly name: string;
  /** Default: all. */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** Addresses and networks from which the key may be used. Default: all. */
  readonly cidrs?: readonly string[] | undefined;
  readonly expires_at?: string | undefined;
  /** How many units the key may spend in a day (UTC). Default: no limit. */
  readonly daily_units?: number | undefined;
  /** How many requests the key may make in a minute. Default: no limit. */
  readonly per_minute?: number | undefined;
  /** The only numbers that the key may send to. Default: all. */
  readonly recipients?: readonly string[] | undefined;
  /** A send that costs more units than this is refused until it is confirmed. Default: none is. */
  readonly confirm_above?: number | undefined;
}

/** A period. */
export interface PeriodQuery {
  /** From this moment on. */
  readonly since?: string | undefined;
  /** Before this moment. */
  readonly until?: string | undefined;
}

/** Which entries of the ledger to list. */
export interface LedgerQuery extends PeriodQuery {
  readonly kind?: LedgerEntry['kind'] | undefined;
  /** 1 to 500. Default 50. */
  readonly limit?: number | undefined;
}

export type { UsageGroup } from '../../management/usage/usage.api.js';

/** Which usage to sum. */
export interface UsageQuery extends PeriodQuery {
  /** Default: by day. */
  readonly group_by?: readonly UsageGroup[] | undefined;
}

/** Which numbers to list. */
export interface OptOutsQuery {
  readonly signature?: string | undefined;
  readonly number?: string | undefined;
  readonly limit?: number | undefined;
}

/** Which changes to list. */
export interface AuditQuery extends PeriodQuery {
  readonly action?: string | undefined;
  readonly limit?: number | undefined;
}
