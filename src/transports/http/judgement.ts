import { carrierCode } from './carrier-code.js';
import type { VendorAnswer, VendorErrors, VendorFacts } from './vendor.js';

/** Why an SMS was not taken. */
export type RefusalKind = keyof VendorErrors;

/** What became of one request. */
export type Judgement =
  | { readonly kind: 'taken'; readonly ids: readonly string[]; readonly segments: number | undefined }
  /** The vendor did not take it. */
  | { readonly kind: RefusalKind; readonly code: string }
  /** It may have taken it. `ids` where some parts are known to be. */
  | { readonly kind: 'unclear'; readonly code: string; readonly ids?: readonly string[] };

/** The same, with the vendor's `Retry-After` as it came. */
export interface Verdict {
  readonly judgement: Judgement;
  readonly retryAfter?: string | undefined;
}

/** The meaning of a vendor's codes, ready to be looked up. */
export type ErrorTable = ReadonlyMap<string, RefusalKind>;

export function errorTable(errors: VendorErrors = {}): ErrorTable {
  const { permanent = [], temporary = [], throttled = [], account = [] } = errors;
  const lists = { permanent, temporary, throttled, account };
  const kinds = ['permanent', 'temporary', 'throttled', 'account'] as const;
  return new Map(kinds.flatMap((kind) => lists[kind].map((code): [string, RefusalKind] => [String(code), kind])));
}

/**
 * What an answer means. A code that the vendor lists decides; then the HTTP status: 2xx with an id is taken and without
 * any sense is unclear, 429 and 503 throttle, what a wrong key, an empty purse or a wrong URL gets (401, 402, 403, 404, 405, a
 * redirect) is the account's, other 4xx are permanent, other 5xx unclear: a gateway may fail after it has passed the SMS on.
 */
export function judge(status: VendorAnswer['status'], facts: VendorFacts, table: ErrorTable): Judgement {
  const { code, segments } = facts;
  const ids = (facts.ids ?? []).map((id) => (isId(id) ? id : ''));
  const known = ids.some((id) => id !== '');
  const ok = status >= 200 && status < 300;
  // Some parts are on their way: to send all again would be wrong, and so would be to give up.
  if (ok && known && code !== undefined) return { kind: 'unclear', code: `partial_${carrierCode(code)}`, ids };
  const listed = code === undefined ? undefined : table.get(code);
  if (listed !== undefined) return { kind: listed, code: carrierCode(code ?? '') };
  if (ok && known) return { kind: 'taken', ids, segments };
  if (ok && code === undefined) return { kind: 'unclear', code: 'malformed_answer' };
  const kind = ok ? 'permanent' : kindOfStatus(status);
  return { kind, code: code === undefined ? `http_${status}` : carrierCode(code) };
}

function kindOfStatus(status: number): RefusalKind | 'unclear' {
  if (status === 429 || status === 503) return 'throttled';
  if (status === 408 || status === 425) return 'temporary';
  if (status < 400 || [401, 402, 403, 404, 405].includes(status)) return 'account';
  return status < 500 ? 'permanent' : 'unclear';
}

/** An id that can be kept: what else a carrier puts there would match no receipt. */
function isId(id: string): boolean {
  return /^[\x21-\x7e]{1,100}$/.test(id);
}
