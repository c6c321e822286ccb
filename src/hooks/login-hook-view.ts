import { isoOf } from '../common/phone-numbers/iso.js';
import type { LoginHookCallView, LoginHookView } from './login-hook.api.js';
import type { LoginHook, LoginHookCall } from './login-hook.js';

/** @param base the URL of the routes, without a trailing slash */
export function loginHookView(hook: LoginHook, base: string): LoginHookView {
  const { id, kind, name, signature, channel, maxSegments, dailyUnits, mapping, proof, status } = hook;
  return {
    id,
    url: urlOf(base, id),
    kind,
    name,
    signature,
    channel,
    limits: { max_segments: maxSegments, daily_units: dailyUnits },
    mapping,
    proof,
    status,
    created_at: isoOf(hook.createdAt),
    updated_at: isoOf(hook.updatedAt),
  };
}

/** The URL that a log-in system calls. */
export function urlOf(base: string, id: string): string {
  return `${base}/hooks/${id}`;
}

export function loginHookCallView({ id, at, outcome, number, messageId, test }: LoginHookCall): LoginHookCallView {
  return { id, at: isoOf(at), outcome, number: number ?? null, message: messageId ?? null, test };
}
