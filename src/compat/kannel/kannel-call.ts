import type { DeliveryStatus } from '../../events/delivery-status.js';
import type { MakeCall, ToldDelivery } from '../status-callbacks/status-call.js';

/** Kannel's numbers for our states. It has none for a state that nobody knows. */
const CODES: Partial<Readonly<Record<DeliveryStatus, number>>> = {
  delivered: 1,
  undelivered: 2,
  sent: 8,
  failed: 16,
  canceled: 16,
};

/** The bits of a `dlr-mask` whose statuses are told. */
export const TOLD_BITS = Object.values(CODES).reduce((bits, code) => bits | code, 0);

/**
 * The escapes of a `dlr-url`, each with its value. A percent sign and two hexadecimal digits are an encoded byte and stay, and so
 * do Kannel's other escapes.
 */
const ESCAPES: Readonly<Record<string, (delivery: ToldDelivery) => string>> = {
  d: ({ status }) => String(CODES[status] ?? ''),
  p: ({ signature }) => signature ?? '',
  P: ({ number }) => `+${number}`,
  F: ({ id }) => id,
  I: ({ id }) => id,
  A: ({ error }) => error ?? '',
  t: ({ at }) => new Date(at).toISOString().slice(0, 19).replace('T', ' '),
  T: ({ at }) => String(Math.floor(at / 1000)),
  // The route of a message is not shown to accounts.
  i: () => '',
  '%': () => '%',
};

const ESCAPE = /%(?:[0-9a-f]{2}|([a-z%]))/gi;

/** The call of a `dlr-url`: a GET of the URL with its escapes filled, if the `dlr-mask` has the bit of the status. */
export const kannelCall: MakeCall = ({ url, mask }, delivery) => {
  if (((CODES[delivery.status] ?? 0) & mask) === 0) return undefined;
  const filled = url.replace(ESCAPE, (whole, letter: string | undefined) => {
    const fill = letter === undefined ? undefined : ESCAPES[letter];
    return fill === undefined ? whole : encodeURIComponent(fill(delivery));
  });
  return { url: filled, headers: {}, body: undefined };
};
