import { createHash } from 'node:crypto';
import type { OutgoingSms, RepeatPolicy } from '../../sms/sms-transport.js';

/** Returns the permanent reference of an SMS in requests to a vendor: `<smsId>.<position>`. */
export function referenceOf({ smsId, position }: Pick<OutgoingSms, 'smsId' | 'position'>): string {
  return `${smsId}.${position}`;
}

/**
 * Returns the reference of one attempt, which receipts repeat: `<smsId>.<position>.<attempt>`. With it a receipt of an earlier
 * attempt cannot settle a later attempt. Vendors that take an idempotency key send one SMS for all attempts, so the permanent
 * reference is used for them.
 */
export function receiptReferenceOf(
  sms: Pick<OutgoingSms, 'smsId' | 'position' | 'attempt'>,
  repeat: RepeatPolicy,
): string {
  return repeat === 'idempotent' ? referenceOf(sms) : `${referenceOf(sms)}.${sms.attempt}`;
}

/**
 * Returns the SMS that either kind of reference names, and its attempt if there is one. Undefined for a text that is not our
 * reference.
 */
export function parseReference(
  reference: string,
): (Pick<OutgoingSms, 'smsId' | 'position'> & Partial<Pick<OutgoingSms, 'attempt'>>) | undefined {
  const [, smsId, position, attempt] =
    /^([A-Za-z0-9_-]{1,80})\.(\d{1,7})(?:\.(\d{1,4}))?$/.exec(reference.trim()) ?? [];
  if (smsId === undefined) return undefined;
  return { smsId, position: Number(position), ...(attempt === undefined ? {} : { attempt: Number(attempt) }) };
}

/** The maximum length of an id at vendors that store it as a UUID. */
const MAX_COMPACT_LENGTH = 36;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns a reference in at most 36 characters, for vendors that allow no more. The id of a send is a UUID, which is written with
 * 22 characters. If a host makes longer ids of its own, the result is a hash, which {@link expandedReference} cannot reverse.
 */
export function compactReference(reference: string): string {
  const { smsId = '', ...place } = parseReference(reference) ?? {};
  const rest = reference.slice(smsId.length);
  if (UUID.test(smsId) && 'position' in place) {
    return Buffer.from(smsId.replaceAll('-', ''), 'hex').toString('base64url') + rest;
  }
  const hash = createHash('sha256')
    .update(reference)
    .digest('hex')
    .slice(0, MAX_COMPACT_LENGTH - 4);
  return reference.length <= MAX_COMPACT_LENGTH - 2 ? reference : hash;
}

/** Returns the reference of which {@link compactReference} made a text. Undefined for any other text and for a hash. */
export function expandedReference(text: string): string | undefined {
  const [, id, rest] = /^([A-Za-z0-9_-]{22})((?:\.\d{1,7}){1,2})$/.exec(text) ?? [];
  if (id === undefined || rest === undefined) return parseReference(text) === undefined ? undefined : text;
  const hex = Buffer.from(id, 'base64url').toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5') + rest;
}

const NAME = 'ref';

/** Returns a callback URL with the reference of one SMS, for vendors that return no other field. */
export function withReference(url: string, reference: string): string {
  return `${url}?${NAME}=${encodeURIComponent(reference)}`;
}

/** Returns the reference that {@link withReference} added. */
export function referenceIn(query: URLSearchParams): string | undefined {
  return query.get(NAME) ?? undefined;
}
