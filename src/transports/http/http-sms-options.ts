import type { ConnectionOptions } from 'node:tls';
import { MessagingOptionsError } from '../../common/errors.js';
import type { RepeatPolicy } from '../../sms/sms-transport.js';
import { checkedChoice, checkedInteger, checkedText, checkedUrl, checkNames } from './option-checks.js';
import type { HttpVendor } from './vendor.js';

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

const NAMES: readonly (keyof HttpSmsOptions)[] = [
  'vendor',
  'name',
  'callbackUrl',
  'callbackSecret',
  'concurrency',
  'requestMs',
  'waitMs',
  'repeat',
  'tls',
];

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveGatewaySettings(options: HttpSmsOptions): GatewaySettings {
  checkNames('http', options, NAMES);
  const { vendor, callbackSecret, tls = {} } = options;
  if (typeof vendor?.request !== 'function' || typeof vendor.read !== 'function') {
    throw new MessagingOptionsError(
      'Option http.vendor must be a vendor: twilio({ … }) or generic({ … }) for instance.',
    );
  }
  checkNames('http.tls', tls, ['ca', 'cert', 'key']);
  const secret =
    callbackSecret === undefined
      ? undefined
      : checkedText('http.callbackSecret', callbackSecret, SECRET_RULE, /^[A-Za-z0-9_-]{16,100}$/);
  return {
    vendor,
    name: checkedText('http.name', options.name ?? vendor.name, NAME_RULE, /^[a-z0-9][a-z0-9_-]{0,39}$/),
    baseUrl: checkedUrl(`${vendor.name}.baseUrl`, vendor.baseUrl),
    callbackUrl: callbackUrlOf(options, secret),
    callbackSecret: secret,
    concurrency: checkedInteger('http.concurrency', options.concurrency ?? 16, 1, 256),
    requestMs: checkedInteger('http.requestMs', options.requestMs ?? 10_000, 100, 60_000),
    waitMs: checkedInteger('http.waitMs', options.waitMs ?? 120_000, 0, 600_000),
    repeat: repeatOf(options),
    tls,
  };
}

const NAME_RULE = '1 to 40 lower-case letters, digits, "-" and "_"';
const SECRET_RULE = '16 to 100 letters, digits, "-" and "_"';

function repeatOf({ vendor, repeat }: HttpSmsOptions): RepeatPolicy {
  const chosen = checkedChoice('http.repeat', repeat ?? 'at-most-once', ['at-most-once', 'at-least-once']);
  return vendor.idempotent ? 'idempotent' : chosen;
}

function callbackUrlOf({ vendor, callbackUrl }: HttpSmsOptions, secret: string | undefined): string | undefined {
  if (callbackUrl === undefined) return undefined;
  if (secret === undefined && !vendor.callback?.isGenuine) {
    throw new MessagingOptionsError(
      `Option http.callbackSecret is missing: ${vendor.name} does not sign its callbacks.`,
    );
  }
  const url = checkedUrl('http.callbackUrl', callbackUrl).href.replace(/\/$/, '');
  return secret === undefined ? url : `${url}/${secret}`;
}
