/** Shapes of the API that the screens read: the JSON of `docs/http-api.md`. Moments are ISO 8601, units whole numbers. */

export interface Session {
  readonly access_token: string;
  /** Seconds. */
  readonly expires_in: number;
}

export interface Me {
  readonly user: { readonly subject: string; readonly role: string } | null;
  readonly key: { readonly id: string; readonly name: string | null; readonly scopes: readonly string[] } | null;
  readonly account: {
    readonly id: string;
    readonly name: string;
    readonly state: string;
    readonly balance: number;
  } | null;
  /** The operator's role. */
  readonly operator: string | null;
  readonly permissions: readonly string[];
  readonly capabilities: {
    readonly sms: boolean;
    readonly otp: boolean;
    /** Names of the channels. */
    readonly msgapp: readonly string[];
    readonly webhooks: boolean;
  };
  readonly locale: string;
}

export interface KeyView {
  readonly id: string;
  readonly name: string | null;
  readonly scopes: readonly string[];
  readonly cidrs: readonly string[];
  readonly expires_at: string | null;
  readonly daily_units: number | null;
  readonly per_minute: number | null;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly spent_today: number | null;
  readonly status: 'active' | 'expired' | 'revoked';
}

/** The answer to the making of a key; null when an earlier answer is repeated. */
export type NewKeyView = KeyView & { readonly key: string | null };

export interface SignatureView {
  readonly name: string;
  readonly status: string;
  readonly reason: string | null;
  /** Null for one that all accounts have. */
  readonly created_at: string | null;
  readonly decided_at: string | null;
  readonly is_default: boolean;
}

/** As operators see it. */
export interface WaitingSignatureView extends SignatureView {
  readonly account: string;
}

export interface LedgerView {
  readonly id: string;
  readonly kind: string;
  readonly units: number;
  readonly message_id: string | null;
  readonly position: number | null;
  readonly note: string | null;
  readonly at: string;
}

export interface UsageRow {
  readonly day?: string;
  readonly channel?: string;
  readonly country?: string | null;
  readonly signature?: string | null;
  readonly key?: string | null;
  /** Charged. */
  readonly units: number;
  readonly refunded_units: number;
  readonly net_units: number;
  readonly sends: number;
  readonly recipients: number;
}

export interface UsageView {
  readonly items: readonly UsageRow[];
  readonly total: UsageRow;
}

export interface OverviewView {
  readonly balance: number;
  readonly oldest_waiting: string | null;
  readonly today: Readonly<Record<string, number>>;
  readonly last_week: Readonly<Record<string, number>>;
  /** Whether more was sent than is counted. */
  readonly capped: { readonly today: boolean; readonly last_week: boolean };
  readonly attention: readonly { readonly kind: string; readonly target: string; readonly at: string | null }[];
}

export interface OptOutView {
  readonly id: string;
  readonly number: string;
  readonly signature: string;
  readonly source: string;
  readonly added_at: string;
}

export interface AuditView {
  readonly id: string;
  readonly at: string;
  readonly by: { readonly kind: string; readonly id: string | null; readonly address: string | null };
  readonly action: string;
  readonly target: string;
  readonly account: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface AccountView {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly balance: number;
  readonly created_at: string;
  readonly low_balance: number | null;
}

export interface LinkView {
  /** Null when an earlier answer is repeated. */
  readonly url_fragment: string | null;
  readonly expires_at: string;
}

export interface LedgerCheckView {
  /** Null: there was none yet. */
  readonly id: string | null;
  readonly state: 'running' | 'done' | 'failed' | 'none';
  readonly part: string | null;
  readonly checked: number;
  readonly findings: readonly string[];
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

export interface SystemView {
  readonly version: string;
  /** What this process does: `all`, `api`, `worker`, `sessions`. */
  readonly role: string;
  readonly storage: readonly { readonly text: string; readonly todo: boolean }[];
  readonly workers: readonly { readonly name: string; readonly last_round: string | null }[];
  readonly clock_skew_ms: number | null;
  readonly node: string;
}
