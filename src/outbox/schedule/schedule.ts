import type { Row } from '../../storage/engine/operation.js';
import { optionalInteger, optionalText } from '../../storage/engine/rows.js';
import type { DeliveryWindow } from '../windows/window.api.js';

/** When the recipients of a send may be handed over. Times are in milliseconds since the epoch. */
export interface Schedule {
  /** The earliest time of the hand-over. Undefined: the acceptance. */
  readonly sendAt?: number | undefined;
  /** A recipient that is not handed over by this time fails with the error `EXPIRED`. Undefined: none does. */
  readonly validUntil?: number | undefined;
  /** The hand-over happens only inside this window. Undefined: at any time. */
  readonly window?: DeliveryWindow | undefined;
}

/** The error of a recipient that was not handed over in time. */
export const EXPIRED = 'expired';

/** The columns of `messaging_message` that store a schedule. */
export const SCHEDULE_COLUMNS = ['send_at', 'valid_until', 'delivery_window'] as const;

/** The values of `SCHEDULE_COLUMNS`. */
export function scheduleValues(schedule: Schedule | undefined): readonly unknown[] {
  const { sendAt, validUntil, window } = schedule ?? {};
  return [sendAt ?? null, validUntil ?? null, window === undefined ? null : JSON.stringify(window)];
}

/** Reads `SCHEDULE_COLUMNS`; undefined if the send has no schedule. */
export function storedSchedule(row: Row): Schedule | undefined {
  const window = optionalText(row, 'delivery_window');
  const schedule: Schedule = {
    sendAt: optionalInteger(row, 'send_at'),
    validUntil: optionalInteger(row, 'valid_until'),
    window: window === undefined ? undefined : JSON.parse(window),
  };
  return Object.values(schedule).every((value) => value === undefined) ? undefined : schedule;
}

/** The time from which the age of a delivery counts: its `sendAt`, or its acceptance. */
export function startOf({ acceptedAt, schedule }: Started): number {
  return Math.max(acceptedAt, schedule?.sendAt ?? acceptedAt);
}

interface Started {
  readonly acceptedAt: number;
  readonly schedule?: Schedule | undefined;
}
