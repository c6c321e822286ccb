import type { OutgoingSms } from '../../sms/sms-transport.js';

/** The permanent reference of an SMS in requests to a vendor: `<smsId>.<position>`. */
export function referenceOf({ smsId, position }: Pick<OutgoingSms, 'smsId' | 'position'>): string {
  return `${smsId}.${position}`;
}

/** The SMS of a reference; undefined for a text that is not a reference of ours. */
export function parseReference(reference: string): Pick<OutgoingSms, 'smsId' | 'position'> | undefined {
  const [, smsId, position] = /^([A-Za-z0-9_-]{1,80})\.(\d{1,7})$/.exec(reference) ?? [];
  return smsId === undefined ? undefined : { smsId, position: Number(position) };
}

const NAME = 'ref';

/** A callback URL with the reference of one SMS, for vendors that return no other field. */
export function withReference(url: string, reference: string): string {
  return `${url}?${NAME}=${encodeURIComponent(reference)}`;
}

/** The reference that {@link withReference} added. */
export function referenceIn(query: URLSearchParams): string | undefined {
  return query.get(NAME) ?? undefined;
}
