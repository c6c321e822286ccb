import type { Signature, SignatureStatus } from '../../accounts/account-records.js';
import { isoOf } from '../../common/phone-numbers/iso.js';

/** A sender name as the API gives it. Moments are ISO 8601. */
export interface SignatureView {
  readonly name: string;
  readonly status: SignatureStatus;
  /** Why it was rejected. */
  readonly reason: string | null;
  /** Null for a default signature. */
  readonly created_at: string | null;
  readonly decided_at: string | null;
  /** Whether every account may use it, without registering it. */
  readonly is_default: boolean;
}

/** A page of sender names: the default ones first, then those of the account by name. */
export interface SignaturePage {
  readonly items: readonly SignatureView[];
  readonly next_cursor: string | null;
}

/** A name that an account has asked for. */
export function signatureView(signature: Signature): SignatureView & { readonly created_at: string } {
  const { name, status, reason, createdAt, decidedAt } = signature;
  const moments = { created_at: isoOf(createdAt), decided_at: isoOf(decidedAt) };
  return { name, status, reason: reason ?? null, ...moments, is_default: false };
}

export function defaultSignatureView(name: string): SignatureView {
  return { name, status: 'verified', reason: null, created_at: null, decided_at: null, is_default: true };
}
