import type { Signature } from '../../accounts/account-records.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import type { SignatureView } from './signature.api.js';

/** Returns the view of a name that an account has asked for. */
export function signatureView(signature: Signature): SignatureView & { readonly created_at: string } {
  const { name, status, reason, createdAt, decidedAt } = signature;
  const moments = { created_at: isoOf(createdAt), decided_at: isoOf(decidedAt) };
  return { name, status, reason: reason ?? null, ...moments, is_default: false };
}

export function defaultSignatureView(name: string): SignatureView {
  return { name, status: 'verified', reason: null, created_at: null, decided_at: null, is_default: true };
}
