import type { KeySummary } from '../../accounts/account-service.js';
import type { KeyView } from '../../accounts/keys/key.api.js';
import { KEY_SCOPES } from '../../accounts/keys/permissions.js';
import { isoOf } from '../../common/phone-numbers/iso.js';

/**
 * @param spent how many units the family has spent today
 * @param now milliseconds since the epoch
 */
export function keyView(key: KeySummary, spent: number, now: number): KeyView {
  const { id, name, scopes, cidrs, dailyUnits, perMinute, recipients, confirmAbove } = key;
  return {
    id,
    name: name ?? null,
    scopes: scopes ?? KEY_SCOPES,
    cidrs: cidrs ?? [],
    expires_at: isoOf(key.expiresAt),
    daily_units: dailyUnits ?? null,
    per_minute: perMinute ?? null,
    recipients: recipients ?? [],
    confirm_above: confirmAbove ?? null,
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
