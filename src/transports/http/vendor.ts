import { any, type Option, text } from '../../common/options.js';
import type { CallbackAnswer, CarrierReceipt, InboundSms, OutgoingSms } from '../../sms/sms-transport.js';
import type { CallbackContent } from './callback-content.js';

/** An HTTP request to a gateway. Of `json` and `form` there is one, or none. */
export interface VendorRequest {
  /** Default `POST`. */
  readonly method?: 'GET' | 'POST' | 'PUT' | undefined;
  /** Below the base URL, with its query; starts with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly json?: unknown;
  /** Sent as `application/x-www-form-urlencoded`; what is undefined is left out. */
  readonly form?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What a gateway answered. */
export interface VendorAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Undefined when it broke off, was too slow or too large. */
  readonly text: string | undefined;
  /** The text read as JSON; undefined when it is none. */
  readonly json: unknown;
}

/** What a request may need besides the SMS. */
export interface RequestContext {
  /** Names this SMS for ever: an idempotency key, or what comes back with the receipt. At most 100 characters. */
  readonly reference: string;
  /** Where receipts are wanted; undefined: nowhere. */
  readonly callbackUrl: string | undefined;
  /** For how many seconds the SMS is of use, 1 or more; undefined: the vendor's default. */
  readonly lifeSeconds: number | undefined;
  /** The bearer token, where the vendor has a {@link VendorToken}; else empty. */
  readonly token: string;
}

/** What an answer says, as far as it says anything. */
export interface VendorFacts {
  /** The carrier's ids of the parts in their order, when it took the SMS. */
  readonly ids?: readonly string[] | undefined;
  /** How many segments the carrier counted. */
  readonly segments?: number | undefined;
  /** The vendor's code of what went wrong; undefined: nothing. */
  readonly code?: string | undefined;
}

/**
 * What the vendor's codes mean. A code of no list means `permanent`, where the HTTP status does not say otherwise.
 */
export interface VendorErrors {
  /** This SMS will never be taken: its number, its sender or its text is wrong. */
  readonly permanent?: readonly (string | number)[] | undefined;
  /** Not taken, may be later. */
  readonly temporary?: readonly (string | number)[] | undefined;
  /** Too many at a time: the whole route rests. */
  readonly throttled?: readonly (string | number)[] | undefined;
  /** Credentials, credit or set-up: every SMS would hear the same. */
  readonly account?: readonly (string | number)[] | undefined;
}

/** A bearer token that is fetched first and used until it runs out (RFC 6749 section 4.4). */
export interface VendorToken {
  readonly request: VendorRequest;
  /** Undefined when the answer has none. `seconds` is how long it lasts. */
  readonly read: (answer: VendorAnswer) => { readonly token: string; readonly seconds: number } | undefined;
}

/** A receipt as a vendor gives it. */
export interface VendorReceipt extends Pick<CarrierReceipt, 'status' | 'mayBeLast' | 'error' | 'at'> {
  readonly id: string;
  /** In any of the usual writings. */
  readonly number?: string | undefined;
  /** What {@link RequestContext.reference} was, where the vendor gives it back. */
  readonly reference?: string | undefined;
}

/** What a vendor's call to us says. */
export interface VendorNews {
  readonly receipts?: readonly VendorReceipt[] | undefined;
  readonly inbound?: readonly Omit<InboundSms, 'route'>[] | undefined;
}

/** A vendor's call to us, before it is believed. */
export interface UnprovenCall {
  /** The URL as the vendor knows it, with the query that came. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly content: CallbackContent;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** How a vendor's calls to us are checked and read. */
export interface VendorCallback {
  /** Whether the vendor signed this. Without it only a secret path proves that a call is the vendor's. */
  readonly isGenuine?: ((call: UnprovenCall) => boolean) | undefined;
  /** Whether the vendor may call by GET as well: the query is read as a form's fields then. Default false: such a call is a 404. */
  readonly byGet?: boolean | undefined;
  /** Undefined: it makes no sense. States that are not final are left out. */
  readonly read: (content: CallbackContent) => VendorNews | undefined;
  /** What the vendor wants to hear. Default 200 with an empty body. */
  readonly answer?: CallbackAnswer | undefined;
}

/** How one gateway is spoken to. Holds secrets: it is never logged. */
export interface HttpVendor {
  /** The transport's name, unless the host gives another: lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  /** `https://…`; plain `http:` only to this machine. */
  readonly baseUrl: string;
  /** True when the vendor makes one SMS of several requests with the same reference. Default false. */
  readonly idempotent?: boolean | undefined;
  readonly token?: VendorToken | undefined;
  readonly request: (sms: OutgoingSms, context: RequestContext) => VendorRequest;
  /** Must bear any JSON. */
  readonly read: (answer: VendorAnswer) => VendorFacts;
  readonly errors?: VendorErrors | undefined;
  readonly callback?: VendorCallback | undefined;
}

/** The value of an `Authorization` header with a name and a password (RFC 7617). */
export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`;
}

/** What a carrier's portal shows: a user name, a key, a secret. */
export const portalText: Option<string> = text(/^[\x20-\x7e]{1,500}$/, 'a text');

/** An `https:` URL without credentials, query and fragment; `http:` only to this machine. */
export const httpsUrl: Option<URL> = any((given, place) => {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) {
    return place.refuse('must be an https:// URL (http:// only to this machine)');
  }
  if (url.username || url.password || url.search || url.hash) {
    place.refuse('must be a URL without credentials, query and fragment');
  }
  return url;
});

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** What a transport or a vendor may be called. */
export const carrierName: Option<string> = text(
  /^[a-z0-9][a-z0-9_-]{0,39}$/,
  '1 to 40 lower-case letters, digits, "-" and "_"',
);
