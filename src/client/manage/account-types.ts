/** Moments are ISO 8601, UTC. */

/** The scopes that a key may have. */
export type KeyScope =
  | 'sms:send'
  | 'otp:send'
  | 'otp:verify'
  | 'msgapp:send'
  | 'msgapp:connect'
  | 'messages:read'
  | 'balance:read'
  | 'events:read'
  | 'webhooks:write';

/** The roles of an account's users, each with the rights of those before it. */
export type AccountRole = 'viewer' | 'sender' | 'developer' | 'admin';

/** The roles of the operator's users. */
export type OperatorRole = 'support' | 'finance' | 'operator';

/** The caller, and what he may do. */
export interface Me {
  readonly user: { readonly subject: string; readonly role: AccountRole | OperatorRole } | null;
  readonly key: { readonly id: string; readonly name: string | null; readonly scopes: readonly KeyScope[] } | null;
  readonly account: {
    readonly id: string;
    readonly name: string;
    readonly state: AccountState;
    readonly balance: number;
  } | null;
  readonly operator: OperatorRole | null;
  readonly permissions: readonly string[];
  readonly capabilities: {
    readonly sms: boolean;
    readonly otp: boolean;
    /** The names of the channels. */
    readonly msgapp: readonly string[];
    readonly webhooks: boolean;
  };
  readonly locale: string;
}

export type AccountState = 'active' | 'suspended' | 'closed';

/** What a new key may. */
export interface KeyOrder {
  readonly name: string;
  /** Default: all. */
  readonly scopes?: readonly KeyScope[] | undefined;
  /** Addresses and networks that may use it. Default: all. */
  readonly cidrs?: readonly string[] | undefined;
  readonly expires_at?: string | undefined;
  /** Units that it may spend in a day, UTC. */
  readonly daily_units?: number | undefined;
  /** Requests in a minute. */
  readonly per_minute?: number | undefined;
}

/** A key of the account, without its secret. */
export interface Key {
  readonly id: string;
  readonly name: string | null;
  readonly scopes: readonly KeyScope[];
  readonly cidrs: readonly string[];
  readonly expires_at: string | null;
  readonly daily_units: number | null;
  readonly per_minute: number | null;
  readonly created_at: string;
  /** To the minute. */
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  /** What it has spent today; null without a cap. */
  readonly spent_today: number | null;
  readonly status: 'active' | 'expired' | 'revoked';
}

/** A key with its secret, which only the answer that made it has; null in a repeat of that answer. */
export type KeyWithSecret = Key & { readonly key: string | null };

/** A sender name of the account. */
export interface Signature {
  readonly name: string;
  readonly status: 'pending' | 'verified' | 'rejected';
  readonly reason: string | null;
  readonly created_at: string | null;
  readonly decided_at: string | null;
  /** Whether every account may use it. */
  readonly is_default: boolean;
}

/** An entry of the ledger. */
export interface LedgerEntry {
  readonly id: string;
  readonly kind: 'topup' | 'adjust' | 'charge' | 'refund';
  readonly units: number;
  readonly message_id: string | null;
  /** The recipient's place in the send, for a refund. */
  readonly position: number | null;
  readonly note: string | null;
  readonly at: string;
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

export type UsageGroup = 'day' | 'channel' | 'country' | 'signature' | 'key';

/** Which usage to sum. */
export interface UsageQuery extends PeriodQuery {
  /** Default: by day. */
  readonly group_by?: readonly UsageGroup[] | undefined;
}

/** What was sent, and its price in units. */
export interface UsageSum {
  readonly units: number;
  readonly refunded_units: number;
  readonly net_units: number;
  readonly sends: number;
  readonly recipients: number;
}

/** The sums of one group. */
export type UsageRow = UsageSum & { readonly [group in UsageGroup]?: string | null };

/** Sums of a period, which are the ledger's. */
export interface Usage {
  readonly items: readonly UsageRow[];
  readonly total: UsageSum;
}

/** An account at a glance. */
export interface Overview {
  readonly balance: number;
  /** Since when the oldest delivery waits; null: none does. */
  readonly oldest_waiting: string | null;
  /** Recipients by status, since midnight. */
  readonly today: Readonly<Record<string, number>>;
  /** The same, a week ago until the same time of the day. */
  readonly last_week: Readonly<Record<string, number>>;
  /** Whether more was sent than is counted. */
  readonly capped: { readonly today: boolean; readonly last_week: boolean };
  readonly attention: readonly { readonly kind: string; readonly target: string; readonly at: string | null }[];
}

/** One-time passcodes of a period. */
export interface CodeFigures {
  readonly items: readonly {
    readonly country: string;
    readonly sent: number;
    readonly verified: number;
    readonly conversion: number | null;
  }[];
  readonly refusals: readonly { readonly reason: string; readonly count: number }[];
}

/** A number that receives nothing under a signature. */
export interface OptOut {
  readonly id: string;
  readonly number: string;
  readonly signature: string;
  readonly source: 'phone' | 'operator';
  readonly added_at: string;
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

/** Who changed what. */
export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly by: { readonly kind: string; readonly id: string | null; readonly address: string | null };
  readonly action: string;
  readonly target: string;
  readonly account: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}
