import type { AccountRole, KeyScope, OperatorRole, PermissionName } from '../../accounts/keys/permissions.js';

/** Who is calling, and what there is for him. */
export interface MeView {
  /** Null for a key. */
  readonly user: { readonly subject: string; readonly role: AccountRole | OperatorRole } | null;
  /** Null for a user. */
  readonly key: { readonly id: string; readonly name: string | null; readonly scopes: readonly KeyScope[] } | null;
  /** Null for an operator who names none in `?account=`. */
  readonly account: AccountSummary | null;
  /** The role of an operator; null for anybody else. */
  readonly operator: OperatorRole | null;
  readonly permissions: readonly PermissionName[];
  readonly capabilities: CapabilitiesView;
  /** The language of our texts. */
  readonly locale: 'fr' | 'en';
}

export interface AccountSummary {
  readonly id: string;
  readonly name: string;
  /** `active`, `suspended` or `closed`. */
  readonly state: string;
  readonly balance: number;
}

/** What the application has mounted. */
export interface CapabilitiesView {
  readonly sms: boolean;
  readonly otp: boolean;
  /** The names of the messaging-app channels. */
  readonly msgapp: readonly string[];
  readonly webhooks: boolean;
}
