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

const NAME = 'ref';

/** Returns a callback URL with the reference of one SMS, for vendors that return no other field. */
export function withReference(url: string, reference: string): string {
  return `${url}?${NAME}=${encodeURIComponent(reference)}`;
}

/** Returns the reference that {@link withReference} added. */
export function referenceIn(query: URLSearchParams): string | undefined {
  return query.get(NAME) ?? undefined;
}
