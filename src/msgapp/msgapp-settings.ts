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

/** How many sessions one account may ask for (`web/connect`), over all processes; past that it gets 429 with `Retry-After`. */
export interface ConnectLimits {
  /** Sessions that may wait for a scan at a time: integer, 1 to 1000. Default 10. */
  readonly waiting: number;
  /** Sessions that may be made in an hour: integer, 1 to 1000. Default 60. */
  readonly perHour: number;
}

/** What the host says about a messaging-app channel. */
export interface MsgappOptions {
  /** The channel's name, in its paths and for `channel` of `send/otp`: 1 to 32 of `a-z 0-9 -`, a letter first. Default `msgapp`. */
  readonly channel?: string | undefined;
  readonly tariff: MsgappTariff;
  /** What credentials of sessions are encrypted with: at least 32 random characters, kept outside the database. */
  readonly credentialsKey: CredentialsKeyOption;
  /** Also refuse numbers that libphonenumber knows to be impossible. Default false. */
  readonly strictNumbers?: boolean | undefined;
  /** How fast one number sends; what is left out is the transport's own, else no pacing. */
  readonly pacing?: SomeOf<Pacing> | undefined;
  /** Leases, attempts and deadlines of messages; what is left out is the transport's own, else the default. */
  readonly delivery?: SomeOf<DeliveryTiming> | undefined;
  /** Waits of sessions; what is left out is the transport's own, else the default. */
  readonly sessions?: SomeOf<SessionTiming> | undefined;
  /** How many sessions an account may ask for; what is left out is the default. */
  readonly connects?: SomeOf<ConnectLimits> | undefined;
}

/** The same, complete and checked. */
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

/** Least and most of each wait; the longest lease and the shortest one keep their renewal apart from their end. */
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

/** First parts of our other paths, and words that a host has routes under. */
const TAKEN = new Set(['sms', 'otp', 'send', 'verify', 'balance', 'docs', 'sandbox']);

/** The name of a messaging-app channel, `msgapp` unless the host gives another. @throws MessagingOptionsError when it is none */
export function resolveChannelName(channel = 'msgapp'): string {
  if (typeof channel === 'string' && /^[a-z][a-z0-9-]{0,31}$/.test(channel) && !TAKEN.has(channel)) return channel;
  throw new MessagingOptionsError(
    `Option msgapp.channel must be 1 to 32 of a-z, 0-9 and "-", a letter first, and none of ${[...TAKEN].join(', ')}; got ${formatValue(channel)}.`,
  );
}
