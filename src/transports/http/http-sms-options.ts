import type { ConnectionOptions } from 'node:tls';
import { MessagingOptionsError } from '../../common/errors.js';
import {
  any,
  choice,
  group,
  integer,
  isRecord,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
  text,
  unread,
} from '../../common/options.js';
import type { RepeatPolicy } from '../../sms/sms-transport.js';
import { carrierName, type HttpVendor, httpsUrl } from './vendor.js';

/** What the host says about one HTTP gateway. */
export interface HttpSmsOptions {
  /** Who carries: `twilio({ … })`, `vonage`, `infobip`, `africasTalking`, `orange`, or a description of the host's own in `generic`. */
  readonly vendor: HttpVendor;
  /** For logs, records and the callback's path, where two transports use one vendor. Default: the vendor's name. */
  readonly name?: string | undefined;
  /**
   * Where the world reaches `POST …/sms/callbacks/<name>`: `https://sms.example.org/api/v1/sms/callbacks/twilio`. Without it
   * no receipts are asked for with each SMS; those that are set up at the vendor still come.
   */
  readonly callbackUrl?: string | undefined;
  /**
   * A secret last segment of that path, 16 to 100 letters, digits, `-` and `_`: Fastify routes no longer ones unless it is
   * told to. Vendors that sign nothing need it.
   */
  readonly callbackSecret?: string | undefined;
  /** Requests at a time, 1 to 256. Default 16. */
  readonly concurrency?: number | undefined;
  /** How long a request may take from the connection to the last byte of the answer, in milliseconds, 100 to 60 000. Default 10 000. */
  readonly requestMs?: number | undefined;
  /**
   * How long an SMS may wait for its turn, while others go first or the route rests, in milliseconds, 0 to 600 000; then it
   * goes back into the outbox. Default 120 000. Give less where another route stands by.
   */
  readonly waitMs?: number | undefined;
  /** What happens to an SMS whose fate a crash left open, with a vendor that takes no idempotency key. Default `at-most-once`. */
  readonly repeat?: Exclude<RepeatPolicy, 'idempotent'> | undefined;
  /** For a gateway with a certificate of its own, or that wants one. */
  readonly tls?: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'> | undefined;
}

/** The same, complete and checked. */
export interface GatewaySettings {
  readonly vendor: HttpVendor;
  readonly name: string;
  readonly baseUrl: URL;
  /** With the secret. */
  readonly callbackUrl: string | undefined;
  readonly callbackSecret: string | undefined;
  readonly concurrency: number;
  readonly requestMs: number;
  readonly waitMs: number;
  readonly repeat: RepeatPolicy;
  readonly tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;
}

const OPTIONS = group({
  vendor: any((given, place) => {
    const isVendor = isRecord(given) && typeof given.request === 'function' && typeof given.read === 'function';
    return isVendor ? given : place.refuse('must be a vendor: twilio({ … }) or generic({ … }) for instance');
  }),
  name: carrierName.or(undefined),
  callbackUrl: httpsUrl.or(undefined),
  callbackSecret: text(/^[A-Za-z0-9_-]{16,100}$/, '16 to 100 letters, digits, "-" and "_"').or(undefined),
  concurrency: integer(1, 256).or(16),
  requestMs: integer(100, 60_000).or(10_000),
  waitMs: integer(0, 600_000).or(120_000),
  repeat: choice('at-most-once', 'at-least-once').or('at-most-once'),
  tls: optionalGroup({
    ca: unread,
    cert: unread,
    key: unread,
  } satisfies OptionsOf<NonNullable<HttpSmsOptions['tls']>>),
} satisfies OptionsOf<HttpSmsOptions>);

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveGatewaySettings(options: HttpSmsOptions): GatewaySettings {
  const { repeat, callbackUrl, callbackSecret, ...read } = OPTIONS.read(options, new OptionPlace('http'));
  const { vendor, tls = {} } = options;
  if (callbackUrl !== undefined && callbackSecret === undefined && !vendor.callback?.isGenuine) {
    throw new MessagingOptionsError(
      `Option http.callbackSecret is missing: ${vendor.name} does not sign its callbacks.`,
    );
  }
  const url = callbackUrl?.href.replace(/\/$/, '');
  return {
    vendor,
    name: read.name ?? carrierName.read(vendor.name, new OptionPlace('http.name')),
    baseUrl: httpsUrl.read(vendor.baseUrl, new OptionPlace(`${vendor.name}.baseUrl`)),
    callbackUrl: url === undefined || callbackSecret === undefined ? url : `${url}/${callbackSecret}`,
    callbackSecret,
    concurrency: read.concurrency,
    requestMs: read.requestMs,
    waitMs: read.waitMs,
    repeat: vendor.idempotent ? 'idempotent' : repeat,
    tls,
  };
}
