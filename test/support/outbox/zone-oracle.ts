import type { DeliveryWindow } from '../../../src/outbox/windows/window.api.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const QUARTER = 15 * MINUTE;

const formats = new Map<string, Intl.DateTimeFormat>();
const quarters = new Map<string, number>();

/**
 * What the clocks of a zone show at a moment, as if it were UTC. It reads the fields of a date and no offset. Clocks
 * change at a full quarter of an hour, so each quarter is formatted once.
 */
export function clocksAt(zone: string, at: number): number {
  const quarter = Math.floor(at / QUARTER) * QUARTER;
  const key = `${zone} ${quarter}`;
  const known = quarters.get(key) ?? formatted(zone, quarter);
  quarters.set(key, known);
  return known + at - quarter;
}

function formatted(zone: string, at: number): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute);
}

/** The first minute at which the clocks of a zone show a local time or a later one, found by trying every minute. */
export function firstMinuteOf(zone: string, local: number): number {
  for (let at = local - 15 * 60 * MINUTE; ; at += MINUTE) if (clocksAt(zone, at) >= local) return at;
}

/** Whether a moment is inside a window in a zone, by the definition: some day of the window has opened and not closed. */
export function isInside({ from, to, days }: DeliveryWindow, zone: string, at: number): boolean {
  const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
  const [opens, closes] = [minutes(from), minutes(to)];
  const today = Math.floor(clocksAt(zone, at) / DAY);
  return [today - 2, today - 1, today, today + 1].some((day) => {
    const weekday = new Date(day * DAY).getUTCDay() || 7;
    if (!days.includes(weekday)) return false;
    const end = day * DAY + (closes > opens ? closes : closes + 24 * 60) * MINUTE;
    return at >= firstMinuteOf(zone, day * DAY + opens * MINUTE) && at < firstMinuteOf(zone, end);
  });
}
