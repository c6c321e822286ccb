import { MessagingError } from '../../common/errors.js';
import { DAY_MS, SECOND_MS } from '../../common/time.js';
import { readWindow } from '../windows/read-window.js';
import type { WindowInput } from '../windows/window.api.js';
import type { ScheduleChange } from './reschedule.js';
import type { Schedule } from './schedule.js';

/** When a caller wants a message to be sent. The fields have the names of the request. */
export interface ScheduleInput {
  /**
   * The earliest moment of the hand-over: RFC 3339 with an offset or `Z`, at most 180 days ahead. Up to 60 s in the past
   * counts as now.
   */
  readonly send_at?: string | undefined;
  /**
   * Seconds from `send_at`, or else from the acceptance, 5 to 2 592 000. A recipient that is not handed over by then
   * fails with the error `expired`, and its units are refunded.
   */
  readonly valid_for?: number | undefined;
  /**
   * The times of day and the weekdays at which it may be handed over. Null: at any time, even if there is a default.
   * Default for SMS: the option `sms.windows`; for messaging apps: at any time.
   */
  readonly window?: WindowInput | null | undefined;
}

/** How far `send_at` may be ahead, and how far it may be in the past. */
const MAX_AHEAD_MS = 180 * DAY_MS;
const MAX_PAST_MS = 60 * SECOND_MS;

/** The range of `valid_for`, in seconds. */
export const MIN_VALID_FOR = 5;
export const MAX_VALID_FOR = 2_592_000;

/**
 * Reads the time at which a message is sent and its validity.
 *
 * @param now milliseconds since the epoch
 * @returns undefined if the caller gives neither
 * @throws MessagingError `error.send_at_invalid`, `error.valid_for_invalid`
 */
export function readSchedule({ send_at, valid_for }: ScheduleInput, now: number): Schedule | undefined {
  const sendAt = readSendAt(send_at ?? undefined, now);
  const validFor = readValidFor(valid_for ?? undefined);
  if (sendAt === undefined && validFor === undefined) return undefined;
  return { sendAt, validUntil: validFor === undefined ? undefined : (sendAt ?? now) + validFor };
}

/**
 * Reads a change of a schedule. A field that is absent stays as it is, and `window: null` removes the window.
 *
 * @param now milliseconds since the epoch
 * @throws MessagingError `error.send_at_invalid`, `error.valid_for_invalid`, `error.window_invalid`
 */
export function readScheduleChange({ send_at, valid_for, window }: ScheduleInput, now: number): ScheduleChange {
  return {
    sendAt: readSendAt(send_at ?? undefined, now),
    validFor: readValidFor(valid_for ?? undefined),
    window: window === undefined || window === null ? window : readWindow(window),
  };
}

/**
 * Reads `send_at` as milliseconds since the epoch. A time in the allowed past becomes `now`.
 * @throws MessagingError `error.send_at_invalid`
 */
export function readSendAt(given: unknown, now: number): number | undefined {
  if (given === undefined) return undefined;
  const at = typeof given === 'string' ? momentOf(given) : undefined;
  if (at === undefined || at < now - MAX_PAST_MS || at > now + MAX_AHEAD_MS) {
    throw new MessagingError('error.send_at_invalid', { field: 'send_at' });
  }
  return Math.max(at, now);
}

/**
 * Reads `valid_for` and returns milliseconds.
 * @throws MessagingError `error.valid_for_invalid`
 */
export function readValidFor(given: unknown): number | undefined {
  if (given === undefined) return undefined;
  if (!isValidFor(given)) throw new MessagingError('error.valid_for_invalid', { field: 'valid_for' });
  return given * SECOND_MS;
}

function isValidFor(given: unknown): given is number {
  return typeof given === 'number' && Number.isInteger(given) && given >= MIN_VALID_FOR && given <= MAX_VALID_FOR;
}

/** `date-time` of RFC 3339, section 5.6. */
const MOMENT =
  /^(?<day>\d{4}-\d\d-\d\d)[Tt](?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?(?:[Zz]|(?<sign>[+-])(?<hours>\d\d):(?<minutes>\d\d))$/;

/**
 * Reads a `date-time` of RFC 3339 as milliseconds since the epoch; fractions of a millisecond are dropped. Undefined for
 * anything else, and for a moment that does not exist. A leap second is possible only at the end of a month in UTC, and
 * counts as the second after it, because the clocks of computers have no leap seconds.
 */
export function momentOf(text: string): number | undefined {
  const parts = text.length <= 64 ? MOMENT.exec(text)?.groups : undefined;
  if (!parts) return undefined;
  const { day = '', fraction = '', sign } = parts;
  const [hour, minute, second] = [Number(parts.hour), Number(parts.minute), Number(parts.second)];
  const [hours, minutes] = [Number(parts.hours ?? 0), Number(parts.minutes ?? 0)];
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 60 || hours > 23 || minutes > 59) return undefined;
  const offset = (hours * 60 + minutes) * (sign === '-' ? -1 : 1);
  const whole = midnight + ((hour * 60 + minute - offset) * 60 + second) * SECOND_MS;
  if (second < 60) return whole + Number(fraction.slice(0, 3).padEnd(3, '0'));
  return isStartOfMonth(whole) ? whole : undefined;
}

function isStartOfMonth(at: number): boolean {
  return at % DAY_MS === 0 && new Date(at).getUTCDate() === 1;
}
