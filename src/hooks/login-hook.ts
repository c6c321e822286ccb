import type { LOGIN_HOOK_STATUSES, LoginHookKind, LoginHookOutcome, LoginHookView } from './login-hook.api.js';

/** A version of a hook's secret. */
export interface HookSecretVersion {
  /** Counts the versions from 1. */
  readonly number: number;
  /** The secret, encrypted (`Sealer`). */
  readonly sealed: string;
  /** When it stops proving calls, milliseconds since the epoch. Null for the newest version. */
  readonly endsAt: number | null;
}

/** Where a generic call has its values. */
export type HookMapping = NonNullable<LoginHookView['mapping']>;
/** How a generic call proves that it is authentic. */
export type HookProof = NonNullable<LoginHookView['proof']>;

/** The values of a hook that its owner decides. */
export interface LoginHookDefinition {
  readonly kind: LoginHookKind;
  /** The service that texts name. Null: none. */
  readonly name: string | null;
  readonly signature: string;
  readonly channel: string;
  readonly maxSegments: number;
  /** Null: no limit. */
  readonly dailyUnits: number | null;
  /** Null unless the kind is `generic`. */
  readonly mapping: HookMapping | null;
  /** Null unless the kind is `generic`. */
  readonly proof: HookProof | null;
}

/** A hook before it is stored. Times are in milliseconds since the epoch. */
export interface NewLoginHook extends LoginHookDefinition {
  readonly id: string;
  readonly accountId: string;
  /** The newest first. */
  readonly versions: readonly HookSecretVersion[];
  readonly createdAt: number;
}

/** A hook of an account, which a log-in system calls with codes to send. */
export interface LoginHook extends NewLoginHook {
  readonly status: (typeof LOGIN_HOOK_STATUSES)[number];
  readonly updatedAt: number;
}

/** A call of a hook. */
export interface LoginHookCall {
  readonly id: string;
  readonly hookId: string;
  readonly at: number;
  readonly outcome: LoginHookOutcome;
  /** The masked number; undefined if the call was not read. */
  readonly number: string | undefined;
  /** The id of the message; undefined if none was sent. */
  readonly messageId: string | undefined;
  readonly test: boolean;
}

/** A hook of an account. */
export interface LoginHookKey {
  readonly accountId: string;
  readonly id: string;
}

/** How many hooks an account may have. */
export const MAX_LOGIN_HOOKS = 20;
