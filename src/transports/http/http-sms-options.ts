import type { ConnectionOptions } from 'node:tls';
import { MessagingOptionsError } from '../../common/errors.js';
import {
  any,
  choice,
  group,
  integer,
  isRecord,
  list,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
  text,
  unread,
} from '../../common/options.js';
import { country } from '../../common/phone-numbers/country-option.js';
import { MINUTE_MS } from '../../common/time.js';
import { MESSAGE_ID_FORMATS, type MessageIdFormat } from '../../sms/receipts/message-ids.js';
import type { RepeatPolicy } from '../../sms/sms-transport.js';
import { plainHost, urlOf } from './plain-hosts.js';
import { carrierName, type HttpVendor, provesCalls } from './vendor.js';

/** Options of {@link HttpSmsTransport}, for one HTTP gateway. */
export interface HttpSmsOptions {
  /** One of the vendors that this entry exports, such as `twilio({ … })`, or the host's own description in `generic`. */
  readonly vendor: HttpVendor;
  /** The name in logs, records and the callback's path: 1 to 40 of `a-z 0-9 _ -`. Default: the vendor's name. */
  readonly name?: string | undefined;
  /**
   * The public URL of `POST …/sms/callbacks/<name>`, for example `https://sms.example.org/api/v1/sms/callbacks/twilio`. Without
   * it requests ask for no receipts. Receipts that are configured at the vendor still arrive. Default none.
   */
  readonly callbackUrl?: string | undefined;
  /**
   * A secret last segment of that path, 16 to 100 letters, digits, `-` and `_` (Fastify's default limit for a segment).
   * Required for callbacks of vendors that do not sign them. Default none.
   */
  readonly callbackSecret?: string | undefined;
  /**
   * The maximum number of concurrent requests, 1 to 256. If it is more than 1, one request is reserved for passcodes. Default 16.
   */
  readonly concurrency?: number | undefined;
  /**
   * Time limit of a request from connecting to the last byte of the answer, in milliseconds, 100 to 60 000. Default 10
   * 000.
   */
  readonly requestMs?: number | undefined;
  /**
   * How long an SMS may wait while other requests run or the route pauses, in milliseconds, 0 to 600 000. After that it returns
   * to the outbox. Set less if another route is available. Default 120 000.
   */
  readonly waitMs?: number | undefined;
  /**
   * Whether an SMS is repeated after a crash during its request, if the vendor takes no idempotency key. Default
   * `at-most-once`.
   */
  readonly repeat?: Exclude<RepeatPolicy, 'idempotent'> | undefined;
  /**
   * How ids in receipts differ from ids in answers. `same`: equal except for leading zeros, and except for upper and lower case
   * if all letters of an id have the same case. `hex-then-decimal` and `decimal-then-hex` are for gateways that pass on the ids
   * of an SMSC. Default `same`.
   */
  readonly messageIds?: MessageIdFormat | undefined;
  /**
   * Hosts of your own network that are reached by `http://`, by name or address and without a port. Example: `['kannel',
   * '10.0.0.5']`. The vendor's base URL and `callbackUrl` may then be on them. Credentials and texts go over that network
   * unencrypted. A host that has a public address gets no request. Default none: `https://` only, except to this machine.
   */
  readonly allowHttp?: readonly string[] | undefined;
  /**
   * The country (ISO 3166 alpha-2) in whose national form the gateway may write phone numbers. Example: with `BF`, a text from
   * `70000001` is from `22670000001`. Default: none, so digits without a plus sign begin with the calling code.
   */
  readonly home?: string | undefined;
  /** TLS options for a gateway that has a private certificate authority or requires a client certificate. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'> | undefined;
}

/** The checked options with their defaults filled in. */
export interface GatewaySettings {
  readonly vendor: HttpVendor;
  readonly name: string;
  readonly baseUrl: URL;
  /** The URL for callbacks, including the secret. */
  readonly callbackUrl: string | undefined;
  readonly callbackSecret: string | undefined;
  readonly concurrency: number;
  readonly requestMs: number;
  readonly waitMs: number;
  readonly repeat: RepeatPolicy;
  readonly messageIds: MessageIdFormat;
  readonly home: string | undefined;
  readonly tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;
}

const OPTIONS = group({
  vendor: any((given, place) => {
    const isVendor = isRecord(given) && typeof given.request === 'function' && typeof given.read === 'function';
    return isVendor ? given : place.refuse('must be a vendor, for example twilio({ … }) or generic({ … })');
  }),
  name: carrierName.or(undefined),
  callbackUrl: unread,
  callbackSecret: text(/^[A-Za-z0-9_-]{16,100}$/, '16 to 100 letters, digits, "-" and "_"').or(undefined),
  concurrency: integer(1, 256).or(16),
  requestMs: integer(100, MINUTE_MS).or(10_000),
  waitMs: integer(0, 10 * MINUTE_MS).or(2 * MINUTE_MS),
  repeat: choice('at-most-once', 'at-least-once').or('at-most-once'),
  messageIds: choice(...MESSAGE_ID_FORMATS).or('same'),
  allowHttp: list(plainHost, 'hosts').or([]),
  home: country.or(undefined),
  tls: optionalGroup({
    ca: unread,
    cert: unread,
    key: unread,
  } satisfies OptionsOf<NonNullable<HttpSmsOptions['tls']>>),
} satisfies OptionsOf<HttpSmsOptions>);

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveGatewaySettings(options: HttpSmsOptions): GatewaySettings {
  const place = new OptionPlace('http');
  const { repeat, callbackSecret, allowHttp, ...read } = OPTIONS.read(options, place);
  const gatewayUrl = urlOf(allowHttp);
  const callbackUrl = gatewayUrl.or(undefined).read(options.callbackUrl, place.in('callbackUrl'));
  const { vendor, tls = {} } = options;
  if (callbackUrl !== undefined && callbackSecret === undefined && !provesCalls(vendor.callback)) {
    const reason = vendor.callback?.isGenuine
      ? 'does not sign the content of its callbacks'
      : 'does not sign its callbacks';
    throw new MessagingOptionsError(`Option http.callbackSecret is missing: ${vendor.name} ${reason}.`);
  }
  const url = callbackUrl?.href.replace(/\/$/, '');
  return {
    vendor,
    name: read.name ?? carrierName.read(vendor.name, new OptionPlace('http.name')),
    baseUrl: gatewayUrl.read(vendor.baseUrl, new OptionPlace(`${vendor.name}.baseUrl`)),
    callbackUrl: url === undefined || callbackSecret === undefined ? url : `${url}/${callbackSecret}`,
    callbackSecret,
    concurrency: read.concurrency,
    requestMs: read.requestMs,
    waitMs: read.waitMs,
    home: read.home,
    repeat: vendor.idempotent ? 'idempotent' : repeat,
    messageIds: read.messageIds,
    tls,
  };
}
