import type { SmsReport } from '../../../../src/sms/sms-transport.js';
import type { HttpVendor } from '../../../../src/transports/http/vendor.js';
import type { GatewayAnswer, GatewayRequest } from './gateway-server.js';

/** An SMS as the double read it from a request, with the number in our digits. */
export interface ReadSms {
  readonly to: string;
  readonly from: string;
  readonly text: string;
  /** The URL that is to get receipts. */
  readonly callbackUrl?: string | undefined;
  /** The reference that comes back with the receipt. */
  readonly reference?: string | undefined;
}

/** A vendor's call to us, before it has a URL. */
export interface DoubleCall {
  /** Default `POST`. */
  readonly method?: 'GET';
  /** What follows the question mark. */
  readonly query?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One vendor as its documentation describes it, on loopback. */
export interface VendorDouble {
  readonly name: string;
  /** The number of the phone that sends, if it is not the signature that recipients see. */
  readonly ownNumber?: string;
  /** The options of its function besides `baseUrl`, for a host in another process. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Our description of it, with valid credentials. */
  vendor(baseUrl: string): HttpVendor;
  /** The same with wrong credentials. */
  strangersVendor(baseUrl: string): HttpVendor;
  /** Checks a request: method, path, credentials, fields. Returns a sentence about the fault. */
  read(request: GatewayRequest): ReadSms | string;
  /** Takes an SMS. `ids` are those that our side must read. */
  take(sms: ReadSms): { readonly answer: GatewayAnswer; readonly ids: readonly string[]; readonly segments?: number };
  /** The answer to wrong credentials. */
  readonly unauthorized: GatewayAnswer;
  /** The documented refusals, each with the code that must be stored. */
  readonly refusals: Readonly<Record<'permanent' | 'temporary' | 'throttled' | 'account', Refusal>>;
  /** The path for tokens, and the answer there. */
  readonly token?: { readonly path: string; answer(request: GatewayRequest): GatewayAnswer };
  /** True: a signature over the URL authenticates calls. False: only the secret path does. */
  readonly signs: boolean;
  /** True: the vendor gives no id. Its receipts name the SMS by our reference alone. */
  readonly hasNoIds?: boolean;
  /** True: its receipts name no number. */
  readonly namesNoNumber?: boolean;
  /** The status that its receipt for an SMS that did not arrive has. Default `undelivered`. */
  readonly failure?: 'failed';
  /** The vendor's report about an SMS. `url` is the callback URL that it was given; `now` is in milliseconds. */
  receipt(of: DoubleReceipt, url: string, now: number): DoubleCall;
  /** The vendor's report that it did not send an SMS, if it has another report for that than {@link receipt}. */
  refused?(of: Omit<DoubleReceipt, 'status'>, url: string, now: number): DoubleCall;
  /** A text from a phone. */
  inbound(
    message: { readonly from: string; readonly to: string; readonly text: string },
    url: string,
    now: number,
  ): DoubleCall;
  /** A call with a state that is not final. @param state in the vendor's words, or an unknown word */
  underWay(id: string, url: string, now: number, state?: string): DoubleCall;
}

export interface Refusal {
  readonly answer: GatewayAnswer;
  readonly code: string;
}

export interface DoubleReceipt {
  readonly id: string;
  readonly to: string;
  readonly status: Extract<SmsReport['status'], 'delivered' | 'undelivered'>;
  readonly reference?: string;
}

/** Header names in lower case, as Node gives them. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): GatewayAnswer {
  return { status, headers, body: JSON.stringify(body) };
}
