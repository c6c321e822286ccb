/** The scopes that a key may have, which say what it may be used for. */
export const KEY_SCOPES = [
  'sms:send',
  'otp:send',
  'otp:verify',
  'msgapp:send',
  'msgapp:connect',
  'messages:read',
  'balance:read',
  'events:read',
  'webhooks:write',
  'hooks:write',
  'campaigns:write',
] as const;

/** A scope of an API key. */
export type KeyScope = (typeof KEY_SCOPES)[number];

/**
 * The roles of an account's users, from the lowest to the highest. Each role also has the permissions of those before
 * it.
 */
export const ACCOUNT_ROLES = ['viewer', 'sender', 'developer', 'admin'] as const;

/** The role of a user of an account. */
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/**
 * The roles of the operator's users, from the lowest to the highest. Each role also has the permissions of those before
 * it. They are never compared with the roles of accounts.
 */
export const OPERATOR_ROLES = ['support', 'finance', 'operator'] as const;

/** The role of a user of the operator. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

export function isAccountRole(role: unknown): role is AccountRole {
  return ACCOUNT_ROLES.some((each) => each === role);
}

export function isOperatorRole(role: unknown): role is OperatorRole {
  return OPERATOR_ROLES.some((each) => each === role);
}

/** Who may use a route. A kind of caller whose field is left out may not. */
export interface Permission {
  /** The scopes that a key needs, all of them; `[]`: every key. */
  readonly scopes?: readonly KeyScope[];
  /** The lowest role of the account's users. */
  readonly role?: AccountRole;
  /** The lowest role of the operator's users. */
  readonly operator?: OperatorRole;
  /**
   * `named`: an operator names the account in `?account=`; `all`: the route concerns no single account, or its path
   * names the account.
   */
  readonly accounts?: 'named' | 'all';
  /** True: a user token without a role may use the route too. */
  readonly plain?: true;
  /** True: a suspended account may not use the route. */
  readonly live?: true;
  /** True: a key in `Authorization: Bearer` is as good as one in `X-Api-Key`. Elsewhere it is deprecated. */
  readonly bearer?: true;
}

const READ = { operator: 'support', accounts: 'named' } as const satisfies Permission;
const WRITE = { operator: 'operator', accounts: 'named' } as const satisfies Permission;

/** Every permission with the callers who have it (docs/management.md). `@Needs` names the permission of a route. */
export const PERMISSIONS = {
  'sms.send': { scopes: ['sms:send'], role: 'sender', plain: true, live: true },
  // A suspended account may take back or postpone what it has sent.
  'sms.cancel': { scopes: ['sms:send'], role: 'sender', ...WRITE, plain: true },
  // The answer is a look-up with the text and the numbers, so a key needs the scope for that too.
  'sms.reschedule': { scopes: ['sms:send', 'messages:read'], role: 'sender', ...WRITE, plain: true },
  'templates.read': { scopes: ['sms:send'], role: 'viewer', ...READ, plain: true },
  'templates.write': { scopes: ['sms:send'], role: 'sender', ...WRITE, plain: true },
  'otp.send': { scopes: ['otp:send'], role: 'sender', plain: true, live: true },
  'otp.verify': { scopes: ['otp:verify'], role: 'sender', plain: true },
  'msgapp.send': { scopes: ['msgapp:send'], role: 'sender', plain: true, live: true },
  'msgapp.cancel': { scopes: ['msgapp:send'], role: 'sender', ...WRITE, plain: true },
  'msgapp.connect': { scopes: ['msgapp:connect'], role: 'developer', ...WRITE, plain: true, live: true },
  'msgapp.unlink': { scopes: ['msgapp:connect'], role: 'developer', ...WRITE, plain: true },
  'msgapp.status': { scopes: ['msgapp:connect'], role: 'viewer', ...READ, plain: true },
  'messages.read': { scopes: ['messages:read'], role: 'viewer', ...READ, plain: true },
  // A file that somebody sent cannot be masked, so of the operator's users only the role `operator` may read it.
  'files.read': { scopes: ['messages:read'], role: 'viewer', ...WRITE, plain: true },
  'balance.read': { scopes: ['balance:read'], role: 'viewer', ...READ, plain: true },
  'events.read': { scopes: ['events:read'], role: 'viewer', ...READ },
  'webhooks.write': { scopes: ['webhooks:write', 'events:read'], role: 'developer', ...WRITE },
  'webhooks.create': { scopes: ['webhooks:write', 'events:read'], role: 'developer', ...WRITE, live: true },
  'hooks.read': { scopes: ['hooks:write'], role: 'developer', ...READ },
  // Whoever has the secret of a hook can send codes, so a key needs the scope for that too.
  'hooks.write': { scopes: ['hooks:write', 'otp:send'], role: 'developer', ...WRITE },
  'hooks.send': { scopes: ['hooks:write', 'otp:send'], role: 'developer', ...WRITE, live: true },
  'campaigns.read': { scopes: ['campaigns:write'], role: 'viewer', ...READ },
  'campaigns.write': { scopes: ['campaigns:write'], role: 'sender', ...WRITE },
  'campaigns.send': { scopes: ['campaigns:write'], role: 'sender', live: true },
  'me.read': { scopes: [], role: 'viewer', operator: 'support', accounts: 'all' },
  // Each tool needs a permission of its own, too.
  'mcp.call': { scopes: [], bearer: true },
  'keys.read': { role: 'developer', ...READ },
  'keys.write': { role: 'developer', ...WRITE },
  'signatures.read': { role: 'viewer', ...READ },
  'signatures.write': { role: 'developer', ...WRITE },
  'ledger.read': { role: 'viewer', ...READ },
  'usage.read': { role: 'viewer', ...READ },
  'optouts.read': { role: 'viewer', ...READ },
  'optouts.write': { role: 'sender', ...WRITE },
  'audit.read': { role: 'developer', ...READ },
  'manage.read': { operator: 'support', accounts: 'all' },
  'manage.post': { operator: 'finance', accounts: 'all' },
  'manage.write': { operator: 'operator', accounts: 'all' },
} as const satisfies Readonly<Record<string, Permission>>;

export type PermissionName = keyof typeof PERMISSIONS;

export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as readonly PermissionName[];

/** Who may use a route. */
export function permissionOf(name: PermissionName): Permission {
  return PERMISSIONS[name];
}

/** Whether a role is at least as high as another one of the same list. */
export function isAtLeast(role: AccountRole, least: AccountRole): boolean;
export function isAtLeast(role: OperatorRole, least: OperatorRole): boolean;
export function isAtLeast(role: AccountRole | OperatorRole, least: AccountRole | OperatorRole): boolean {
  const ladder: readonly string[] = isOperatorRole(least) ? OPERATOR_ROLES : ACCOUNT_ROLES;
  return ladder.includes(role) && ladder.indexOf(role) >= ladder.indexOf(least);
}
