import type { MessagingError } from '../../common/errors.js';
import type { Catalogue } from '../../common/text/catalogue.js';
import { errorAnswer } from '../../http/errors.js';
import { HOOK_KINDS } from '../kinds/index.js';
import type { LoginHookKind } from '../login-hook.api.js';

/** The answer to a call of a log-in system. */
export interface HookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The answer to an accepted call, and to its repeat. Supabase expects an empty object. */
export const SUCCESS: HookAnswer = { status: 200, headers: {}, body: {} };

/**
 * The answer to a refused call, in the shape that its kind expects.
 * @param to `stranger`: the call is not authentic, so its sender may be anybody. `caller`: it is authentic
 */
export function refusalAnswer(
  error: MessagingError,
  kind: LoginHookKind,
  catalogue: Catalogue,
  to: 'stranger' | 'caller',
): HookAnswer {
  const { body, headers } = errorAnswer(error, catalogue);
  const { statusCode: status, message } = body;
  if (!HOOK_KINDS[kind].refusesInBody) return { status, headers, body };
  // Supabase shows a refusal to its user only if the status is 200. It repeats a call only after a 503 with `Retry-After`.
  const isFinal = to === 'caller' && error.code !== 'error.storage_unavailable';
  return { status: isFinal ? 200 : status, headers, body: { error: { http_code: status, message } } };
}
