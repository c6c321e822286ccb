import type { KeySummary } from '../../accounts/account-service.js';
import { KEY_SCOPES, type KeyScope } from '../../accounts/keys/permissions.js';
import { isoOf } from '../../common/phone-numbers/iso.js';

/** An API key as the API gives it. Moments are ISO 8601. */
export interface KeyView {
  /** Its public part. */
  readonly id: string;
  readonly name: string | null;
  readonly scopes: readonly KeyScope[];
  /** The addresses from which it may be used, in CIDR notation; empty: all. */
  readonly cidrs: readonly string[];
  readonly expires_at: string | null;
  readonly daily_units: number | null;
  readonly per_minute: number | null;
  readonly created_at: string;
  /** To the minute, some minutes late. */
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  /** What its family has spent today (UTC); null without a cap. */
  readonly spent_today: number | null;
  readonly status: 'active' | 'expired' | 'revoked';
}

/** A new key: `key` in clear text is given once; null in a repeat under the same Idempotency-Key. */
export type NewKeyView = KeyView & { readonly key: string | null };

/** A page of keys, the newest first. */
export interface KeyPage {
  readonly items: readonly KeyView[];
  readonly next_cursor: string | null;
}

/**
 * @param spent units that the family has spent today
 * @param now milliseconds since the epoch
 */
export function keyView(key: KeySummary, spent: number, now: number): KeyView {
  const { id, name, scopes, cidrs, dailyUnits, perMinute } = key;
  return {
    id,
    name: name ?? null,
    scopes: scopes ?? KEY_SCOPES,
    cidrs: cidrs ?? [],
    expires_at: isoOf(key.expiresAt),
    daily_units: dailyUnits ?? null,
    per_minute: perMinute ?? null,
    created_at: isoOf(key.createdAt),
    last_used_at: isoOf(key.usedAt),
    revoked_at: isoOf(key.revokedAt),
    spent_today: dailyUnits === undefined ? null : spent,
    status: statusOf(key, now),
  };
}

function statusOf({ revokedAt, expiresAt }: KeySummary, now: number): KeyView['status'] {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active';
}
