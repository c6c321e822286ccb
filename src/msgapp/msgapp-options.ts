import type { OptionalFields } from '../common/optional-fields.js';
import {
  any,
  formatValue,
  group,
  integer,
  number,
  Option,
  OptionPlace,
  type OptionsOf,
  optionalGroup,
  readOptions,
  unread,
} from '../common/options.js';
import { RecipientNumbers, type StrictNumbers, strictNumbers } from '../common/phone-numbers/recipient-number.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../common/time.js';
import { DELIVERY_OPTIONS, type DeliveryTiming } from '../outbox/delivery/delivery-result.js';
import type { Pacing, SessionTiming } from './msgapp-transport.js';
import type { CredentialsKeyOption } from './sessions/credential-cipher.js';

/** Units per message. */
export interface MsgappTariff {
  /** Integer, 0 to 1 000 000. */
  readonly text: number;
  /** Integer, 0 to 1 000 000. */
  readonly media: number;
}

/**
 * Limits on the sessions that one account may request (`web/connect`), over all processes. Above a limit the account gets 429
 * with `Retry-After`.
 */
export interface ConnectLimits {
  /** Sessions that may wait for a scan at the same time: integer, 1 to 1000. Default 10. */
  readonly waiting: number;
  /** Sessions that may be created within an hour: integer, 1 to 1000. Default 60. */
  readonly perHour: number;
}

/** Options of a messaging-app channel. */
export interface MsgappOptions {
  /**
   * The channel's name in its paths and in `channel` of `send/otp`: 1 to 32 of `a-z 0-9 -`, starting with a letter. Default
   * `msgapp`.
   */
  readonly channel?: string | undefined;
  readonly tariff: MsgappTariff;
  /** Secret that encrypts the sessions' credentials: at least 32 random characters, kept outside the database. */
  readonly credentialsKey: CredentialsKeyOption;
  /** The same as `sms.strictNumbers`. The home market is the one of `sms.tariff`. Default `home`. */
  readonly strictNumbers?: StrictNumbers | undefined;
  /** Send rate of one number. Default: the transport's pacing, else none. */
  readonly pacing?: OptionalFields<Pacing> | undefined;
  /** Leases, attempts and deadlines of deliveries. Each field defaults to the transport's, else to the general default. */
  readonly delivery?: OptionalFields<DeliveryTiming> | undefined;
  /** Waits of sessions. Each field defaults to the transport's, else to the general default. */
  readonly sessions?: OptionalFields<SessionTiming> | undefined;
  /** Limits on the sessions that an account may request, each with its own default. */
  readonly connects?: OptionalFields<ConnectLimits> | undefined;
}

/** The checked `MsgappOptions` with their defaults filled in. */
export abstract class MsgappSettings {
  abstract readonly channel: string;
  abstract readonly tariff: MsgappTariff;
  abstract readonly recipients: RecipientNumbers;
  abstract readonly pacing: Partial<Pacing>;
  abstract readonly delivery: Partial<DeliveryTiming>;
  abstract readonly sessions: Partial<SessionTiming>;
  abstract readonly connects: ConnectLimits;
}

const MAX_MS = 30 * DAY_MS;
const units = integer(0, 1_000_000);

const tariff = group({ text: units, media: units } satisfies OptionsOf<MsgappTariff>);

const connects = optionalGroup({
  waiting: integer(1, 1000).or(10),
  perHour: integer(1, 1000).or(60),
} satisfies OptionsOf<ConnectLimits>);

/** Ranges of the waits, in milliseconds. The lease limits keep the renewal of a lease well before its end. */
const sessions = optionalGroup({
  leaseMs: integer(1000, 10 * MINUTE_MS).or(undefined),
  scanMs: integer(1000, HOUR_MS).or(undefined),
  answerMs: integer(100, 10 * MINUTE_MS).or(undefined),
  steadyMs: integer(0, MAX_MS).or(undefined),
  staggerMs: integer(0, MINUTE_MS).or(undefined),
} satisfies OptionsOf<SessionTiming>);

const perMinute = any((given, place) => {
  if (typeof given === 'number' && given > 0) return given;
  return place.refuse(`must be a number above 0, Infinity for no pacing; got ${formatValue(given)}`);
});

const pacing = optionalGroup({
  perMinute: perMinute.or(undefined),
  jitter: number(0, 1).or(undefined),
} satisfies OptionsOf<Pacing>);

/** Reads and checks those options of a messaging-app channel that a factory may give. */
export const MSGAPP_OPTIONS = {
  tariff: new Option((given, place) => {
    return given === undefined ? place.refuse('is missing: { text, media }') : tariff.read(given, place);
  }, tariff.check),
  // The sessions' vault reads it. No other part may know it.
  credentialsKey: unread,
  strictNumbers: strictNumbers.or('home'),
  pacing,
  delivery: DELIVERY_OPTIONS,
  sessions,
  connects,
} satisfies OptionsOf<Omit<MsgappOptions, 'channel'>>;

const ALL = {
  ...MSGAPP_OPTIONS,
  channel: any(resolveChannelName).or('msgapp'),
} satisfies OptionsOf<MsgappOptions>;

/**
 * @param home the home market, a country code. Undefined: not known
 * @throws MessagingOptionsError with a sentence that names the wrong option
 */
export function resolveMsgappSettings(options: Omit<MsgappOptions, 'credentialsKey'>, home?: string): MsgappSettings {
  const { credentialsKey: _, strictNumbers, ...settings } = readOptions(ALL, options, new OptionPlace('msgapp'));
  return { ...settings, recipients: new RecipientNumbers(strictNumbers, home) };
}

/** The first segments of our other paths, and names under which hosts often have routes. */
const TAKEN = new Set(['sms', 'otp', 'send', 'verify', 'balance', 'docs', 'sandbox']);

/**
 * Checks the name of a messaging-app channel. The default is `msgapp`.
 * @throws MessagingOptionsError if the name is invalid
 */
export function resolveChannelName(
  channel: unknown = 'msgapp',
  place: OptionPlace = new OptionPlace('msgapp.channel'),
): string {
  if (typeof channel === 'string' && /^[a-z][a-z0-9-]{0,31}$/.test(channel) && !TAKEN.has(channel)) return channel;
  return place.refuse(
    `must be 1 to 32 of a-z, 0-9 and "-", a letter first, and none of ${[...TAKEN].join(', ')}; got ${formatValue(channel)}`,
  );
}
