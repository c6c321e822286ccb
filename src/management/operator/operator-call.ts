import { createHash } from 'node:crypto';
import { type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { checkCallOptions } from '../../common/options.js';
import type { IdempotentRequest } from '../../outbox/idempotency.js';

/** Options of an operator's call that changes something. */
export interface OperatorCallOptions {
  /** Who makes the change, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
  /** The change is made once, no matter how often this key comes from this author within 24 hours. */
  readonly once?: IdempotentRequest | undefined;
}

/** A call with its defaults. */
export interface OperatorCall {
  readonly by: Author;
  readonly once: IdempotentRequest | undefined;
  /** Replaces the account that an Idempotency-Key belongs to. No account has such an id. */
  readonly scope: string;
}

/** @throws TypeError for an unknown option */
export function operatorCall(what: string, options: OperatorCallOptions): OperatorCall {
  const { by = HOST, once } = checkCallOptions(what, options, 'by', 'once');
  const subject = createHash('sha256')
    .update(by.id ?? '')
    .digest('base64url');
  return { by, once, scope: `${by.kind}:${subject}` };
}
