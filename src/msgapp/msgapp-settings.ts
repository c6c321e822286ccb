import { MessagingOptionsError } from '../common/errors.js';
import { formatValue, type SomeOf, withoutUndefined } from '../common/options.js';
import type { DeliveryTiming } from '../outbox/delivery-result.js';
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
 * Limits on the sessions that one account may request (`web/connect`), over all processes; beyond them it gets 429 with
 * `Retry-After`.
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
   * The channel's name, in its paths and as `channel` of `send/otp`: 1 to 32 of `a-z 0-9 -`, starting with a letter. Default
   * `msgapp`.
   */
  readonly channel?: string | undefined;
  readonly tariff: MsgappTariff;
  /** Secret that encrypts the sessions' credentials: at least 32 random characters, kept outside the database. */
  readonly credentialsKey: CredentialsKeyOption;
  /** Also refuse numbers that are impossible according to libphonenumber. Default false. */
  readonly strictNumbers?: boolean | undefined;
  /** Send rate of one number. Default: the transport's pacing, else none. */
  readonly pacing?: SomeOf<Pacing> | undefined;
  /** Leases, attempts and deadlines of deliveries. Each field defaults to the transport's, else to the general default. */
  readonly delivery?: SomeOf<DeliveryTiming> | undefined;
  /** Waits of sessions. Each field defaults to the transport's, else to the general default. */
  readonly sessions?: SomeOf<SessionTiming> | undefined;
  /** Limits on the sessions that an account may request, each with its own default. */
  readonly connects?: SomeOf<ConnectLimits> | undefined;
}

/** `MsgappOptions`, checked and with defaults. */
export abstract class MsgappSettings {
  abstract readonly channel: string;
  abstract readonly tariff: MsgappTariff;
  abstract readonly strictNumbers: boolean;
  abstract readonly pacing: Partial<Pacing>;
  abstract readonly delivery: Partial<DeliveryTiming>;
  abstract readonly sessions: Partial<SessionTiming>;
  abstract readonly connects: ConnectLimits;
}

const DEFAULT_CONNECTS: ConnectLimits = { waiting: 10, perHour: 60 };

const LONGEST_MS = 30 * 24 * 3_600_000;

/** Smallest and largest value of each wait, in milliseconds. The lease limits keep the renewal of a lease well before its end. */
const WAITS: Readonly<Record<keyof SessionTiming, readonly [number, number]>> = {
  leaseMs: [1000, 600_000],
  scanMs: [1000, 3_600_000],
  answerMs: [100, 600_000],
  steadyMs: [0, LONGEST_MS],
  staggerMs: [0, 60_000],
};

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveMsgappSettings(options: Omit<MsgappOptions, 'credentialsKey'>): MsgappSettings {
  const { tariff } = options ?? {};
  const pacing = withoutUndefined(options?.pacing ?? {});
  const delivery = withoutUndefined(options?.delivery ?? {});
  const sessions = withoutUndefined(options?.sessions ?? {});
  const connects = { ...DEFAULT_CONNECTS, ...withoutUndefined(options?.connects ?? {}) };
  const channel = resolveChannelName(options?.channel);
  if (typeof tariff !== 'object' || tariff === null) throw wrong('tariff is missing: { text, media }.');
  for (const kind of ['text', 'media'] as const) checkInteger(`tariff.${kind}`, tariff[kind], 0, 1_000_000);
  for (const [name, value] of Object.entries(delivery)) {
    checkInteger(`delivery.${name}`, value, 1, name === 'maxAttempts' ? 100 : LONGEST_MS);
  }
  for (const [name, [least, most]] of Object.entries(WAITS)) {
    const value = sessions[name as keyof SessionTiming];
    if (value !== undefined) checkInteger(`sessions.${name}`, value, least, most);
  }
  for (const name of ['waiting', 'perHour'] as const) checkInteger(`connects.${name}`, connects[name], 1, 1000);
  checkPacing(pacing);
  return { channel, tariff, pacing, delivery, sessions, connects, strictNumbers: options?.strictNumbers ?? false };
}

function checkPacing({ perMinute = 1, jitter = 0 }: Partial<Pacing>): void {
  if (typeof perMinute !== 'number' || !(perMinute > 0)) {
    throw wrong(`pacing.perMinute must be a number above 0, Infinity for no pacing; got ${formatValue(perMinute)}.`);
  }
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) {
    throw wrong(`pacing.jitter must be a number from 0 to 1; got ${formatValue(jitter)}.`);
  }
}

function checkInteger(name: string, value: unknown, least: number, most: number): void {
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return;
  throw wrong(`${name} must be an integer from ${least} to ${most}; got ${formatValue(value)}.`);
}

function wrong(sentence: string): MessagingOptionsError {
  return new MessagingOptionsError(`Option msgapp.${sentence}`);
}

/** First segments of our other paths, and names under which hosts commonly have routes. */
const TAKEN = new Set(['sms', 'otp', 'send', 'verify', 'balance', 'docs', 'sandbox']);

/**
 * Checks the name of a messaging-app channel; the default is `msgapp`.
 * @throws MessagingOptionsError when the name is invalid
 */
export function resolveChannelName(channel = 'msgapp'): string {
  if (typeof channel === 'string' && /^[a-z][a-z0-9-]{0,31}$/.test(channel) && !TAKEN.has(channel)) return channel;
  throw new MessagingOptionsError(
    `Option msgapp.channel must be 1 to 32 of a-z, 0-9 and "-", a letter first, and none of ${[...TAKEN].join(', ')}; got ${formatValue(channel)}.`,
  );
}
