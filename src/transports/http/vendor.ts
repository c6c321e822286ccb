import { type Option, text } from '../../common/options.js';
import type { CallbackAnswer, CarrierReceipt, InboundSms, OutgoingSms, PartPlace } from '../../sms/sms-transport.js';
import type { CallbackContent } from './callback-content.js';
import type { CallbackCharset } from './callback-fields.js';

/** An HTTP request to a gateway, with either `json` or `form` or no body. */
export interface VendorRequest {
  /** Default `POST`. */
  readonly method?: 'GET' | 'POST' | 'PUT' | undefined;
  /** The path below the base URL, with its query. It starts with a slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly json?: unknown;
  /** The fields that are sent as `application/x-www-form-urlencoded`. Undefined fields are omitted. */
  readonly form?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The answer of a gateway. */
export interface VendorAnswer {
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The text of the body. Undefined if the body was incomplete, late or too large. */
  readonly text: string | undefined;
  /** The text parsed as JSON. Undefined if it is not JSON. */
  readonly json: unknown;
}

/** The values that a request may use besides the SMS. */
export interface RequestContext {
  /** The permanent reference of this SMS, for an idempotency key. At most 100 characters. */
  readonly reference: string;
  /**
   * The reference of this attempt, for a field or a callback URL that receipts return: {@link VendorReceipt.reference}.
   * It differs from attempt to attempt, unless the vendor is `idempotent`. At most 100 of the characters
   * `A-Z a-z 0-9 _ - .`.
   */
  readonly receiptReference: string;
  /** The URL for receipts. Undefined: no receipts are requested. */
  readonly callbackUrl: string | undefined;
  /** The remaining lifetime of the SMS in seconds, 1 or more. Undefined: the vendor's default. */
  readonly lifeSeconds: number | undefined;
  /** The bearer token if the vendor has a {@link VendorToken}, else empty. */
  readonly token: string;
}

/** The content of an answer. Absent fields are undefined. */
export interface VendorFacts {
  /** The carrier's ids of the parts in their order, if it accepted the SMS. */
  readonly ids?: readonly string[] | undefined;
  /**
   * True: the vendor accepted the SMS and gives no id. The SMS is `sent`, and its receipts are recognised by
   * {@link HttpVendor.ownIds}. Default false: an answer without id and code is `unknown`.
   */
  readonly accepted?: boolean | undefined;
  /**
   * True: the vendor refuses this request because it has the SMS from an earlier request with our id, for example with 409. The
   * SMS counts as accepted, whatever the HTTP status is. Default false.
   */
  readonly alreadyAccepted?: boolean | undefined;
  /** The carrier's count of segments. */
  readonly segments?: number | undefined;
  /** The vendor's error code. Undefined without an error. */
  readonly code?: string | undefined;
}

/**
 * The meaning of the vendor's error codes. An unlisted code is classified by the HTTP status, with a 2xx as
 * `permanent`.
 */
export interface VendorErrors {
  /** The vendor will never accept this SMS: its number, sender or text is wrong. */
  readonly permanent?: readonly (string | number)[] | undefined;
  /** The vendor does not accept this SMS now. */
  readonly temporary?: readonly (string | number)[] | undefined;
  /** The vendor throttles: the whole route pauses. */
  readonly throttled?: readonly (string | number)[] | undefined;
  /** Errors of credentials, credit or set-up, which affect every SMS: the whole route pauses. */
  readonly account?: readonly (string | number)[] | undefined;
  /** The vendor may have accepted this SMS: it is `unknown`, and its units are kept. */
  readonly unclear?: readonly (string | number)[] | undefined;
}

/** A bearer token that is requested first and used until it expires (RFC 6749 section 4.4). */
export interface VendorToken {
  readonly request: VendorRequest;
  /** Reads the token from an answer. `seconds` is the token's lifetime. Undefined if the answer has no token. */
  readonly read: (answer: VendorAnswer) => { readonly token: string; readonly seconds: number } | undefined;
}

/** A vendor's receipt, with an `id`, a `reference` or both. */
export interface VendorReceipt
  extends Pick<CarrierReceipt, 'status' | 'mayBeLast' | 'whole' | 'isRepeatByTime' | 'segments' | 'error' | 'at'> {
  /** The carrier's id, as in {@link VendorFacts.ids}. */
  readonly id?: string | undefined;
  /** The number in any spelling. A national number needs the option `home`. */
  readonly number?: string | undefined;
  /**
   * The {@link RequestContext.receiptReference}, if the vendor returns it. It finds the SMS if the answer had no id or was
   * lost.
   */
  readonly reference?: string | undefined;
  /**
   * True: the receipt is for one part of a long SMS, so that its `delivered` does not make the whole SMS `delivered`.
   * Default false.
   */
  readonly ofPart?: boolean | undefined;
}

/** An inbound text of a vendor's call. */
export interface VendorInbound extends Omit<InboundSms, 'route' | 'key' | 'incomplete' | 'part'> {
  /**
   * The position of this part in its text, for a vendor that sends the parts of a long text one by one. Undefined for a
   * whole text.
   */
  readonly part?: PartPlace | undefined;
}

/** The receipts and inbound texts of a vendor's call. */
export interface VendorNews {
  readonly receipts?: readonly VendorReceipt[] | undefined;
  readonly inbound?: readonly VendorInbound[] | undefined;
}

/** A vendor's call before it is authenticated. */
export interface UnprovenCall {
  /** The URL that the vendor used, with the query of the call. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  readonly content: CallbackContent;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** How to authenticate and read a vendor's calls. */
export interface VendorCallback {
  /** Verifies the vendor's signature. Without it only a secret path authenticates a call. */
  readonly isGenuine?: ((call: UnprovenCall) => boolean) | undefined;
  /**
   * True: `isGenuine` does not cover the body, so calls need the secret path as well. Default false.
   */
  readonly needsSecret?: boolean | undefined;
  /**
   * True: the vendor may also call by GET, and the query is read as a form. Default false: a GET is answered with 404.
   */
  readonly byGet?: boolean | undefined;
  /** The charset of the vendor's forms and queries, if their content type does not name one. Default UTF-8. */
  readonly charset?: CallbackCharset | undefined;
  /**
   * True: receipts return {@link RequestContext.receiptReference}, so that they also settle an SMS whose answer was lost.
   * Default false.
   */
  readonly echoesReference?: boolean | undefined;
  /** Reads a call. Return undefined for unknown content, and omit states that are not final. */
  readonly read: (content: CallbackContent) => VendorNews | undefined;
  /** The success answer that the vendor expects. Default 200 with an empty body. */
  readonly answer?: CallbackAnswer | undefined;
}

/** The description of one gateway. It contains secrets and is never logged. */
export interface HttpVendor {
  /** The default name of the transport: 1 to 40 lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  /** `https://…`. `http:` is allowed only for loopback addresses and for the hosts of the option `allowHttp`. */
  readonly baseUrl: string;
  /** True: the vendor sends one SMS for several requests with the same reference. Default false. */
  readonly idempotent?: boolean | undefined;
  readonly token?: VendorToken | undefined;
  readonly request: (sms: OutgoingSms, context: RequestContext) => VendorRequest;
  /** Reads an answer. It must accept any JSON. */
  readonly read: (answer: VendorAnswer) => VendorFacts;
  /**
   * Returns the ids of an SMS that {@link VendorFacts.accepted} names no id for, one for each part that the vendor reports on.
   * They are also the ids of an SMS whose answer was lost. Default: one id, the {@link RequestContext.receiptReference}.
   * @param receiptReference the one of this attempt
   */
  readonly ownIds?: ((sms: OutgoingSms, receiptReference: string) => readonly string[]) | undefined;
  /**
   * The maximum number of segments of a text, for a vendor that cuts longer texts without an error. A longer text is refused
   * with the code `too_long`. Default: no limit.
   */
  readonly maxSegments?: number | undefined;
  readonly errors?: VendorErrors | undefined;
  readonly callback?: VendorCallback | undefined;
}

/** Whether a vendor's signature alone authenticates its calls, without a secret path. */
export function provesCalls(callback: VendorCallback | undefined): boolean {
  return callback?.isGenuine !== undefined && callback.needsSecret !== true;
}

/** Returns the value of an `Authorization` header for a name and a password (RFC 7617). */
export function basicAuthorization(name: string, password: string): string {
  return `Basic ${Buffer.from(`${name}:${password}`, 'utf8').toString('base64')}`;
}

/** A user name, key or secret from a carrier's portal. */
export const portalText: Option<string> = text(/^[\x20-\x7e]{1,500}$/, 'a text');

/** The number of the phone that an app sends from. */
export const ownNumber: Option<string> = text(/^[1-9]\d{2,14}$/, '3 to 15 digits, with the country code');

/** The name of a transport or a vendor. */
export const carrierName: Option<string> = text(
  /^[a-z0-9][a-z0-9_-]{0,39}$/,
  '1 to 40 lower-case letters, digits, "-" and "_"',
);
