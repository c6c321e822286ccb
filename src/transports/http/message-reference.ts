import type { OutgoingSms } from '../../sms/sms-transport.js';

/** Names an SMS for ever in what is sent to a vendor: `<smsId>.<position>`. */
export function referenceOf({ smsId, position }: Pick<OutgoingSms, 'smsId' | 'position'>): string {
  return `${smsId}.${position}`;
}

/** The SMS that a reference names; undefined when it is none of ours. */
export function parseReference(reference: string): Pick<OutgoingSms, 'smsId' | 'position'> | undefined {
  const [, smsId, position] = /^([A-Za-z0-9_-]{1,80})\.(\d{1,7})$/.exec(reference) ?? [];
  return smsId === undefined ? undefined : { smsId, position: Number(position) };
}

const NAME = 'ref';

/** A callback URL that carries the reference of one SMS, for vendors that give nothing else back. */
export function withReference(url: string, reference: string): string {
  return `${url}?${NAME}=${encodeURIComponent(reference)}`;
}

/** What {@link withReference} wrote, as it came back. */
export function referenceIn(query: URLSearchParams): string | undefined {
  return query.get(NAME) ?? undefined;
}
