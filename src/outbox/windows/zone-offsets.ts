import { LRUCache } from 'lru-cache';
import { atMost } from '../../common/concurrency/at-most.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../common/time.js';

/** The form of the names that IANA gives to time zones. Node also accepts offsets such as `+05:30`, which are no names. */
const NAME = /^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/;

/** Whether a text is the name of a time zone that this runtime knows. */
export function isZone(name: string): boolean {
  if (!NAME.test(name)) return false;
  try {
    formats(name);
    return true;
  } catch {
    return false;
  }
}

/**
 * The first moment at which the clocks of a zone show a local time or a later one. So a local time that a change of the
 * clocks skips is the moment of the change, and a repeated one is its first occurrence.
 *
 * @param local the local time as if it were UTC, milliseconds since the epoch
 * @returns milliseconds since the epoch
 */
export function momentOf(zone: string, local: number): number {
  // The moment differs from `local` by less than the largest offset, which is 14 hours.
  const from = local - MAX_OFFSET_MS;
  let offset = offsetAt(zone, from);
  for (let slot = slotOf(from); slot <= slotOf(local + MAX_OFFSET_MS); slot++) {
    const { change, after } = changeIn(zone, slot);
    if (change === undefined || change <= from) continue;
    if (local - offset < change) return local - offset;
    offset = after;
    // The change skipped the local time.
    if (change + offset >= local) return change;
  }
  return local - offset;
}

/** How far the local time of a zone is ahead of UTC at a moment, in milliseconds. */
export function offsetAt(zone: string, at: number): number {
  const { before, change, after } = changeIn(zone, slotOf(at));
  return change === undefined || at < change ? before : after;
}

const MAX_OFFSET_MS = 15 * HOUR_MS;

/** The offset at the start of a slot, and the change of the clocks in it. Without a change, both offsets are equal. */
interface Slot {
  readonly before: number;
  /** Milliseconds since the epoch. */
  readonly change: number | undefined;
  readonly after: number;
}

/**
 * The length of a slot of time. A slot has at most one change of the clocks: no zone has ever changed twice within a
 * week, while some countries change twice in a month because of Ramadan.
 */
const SLOT_MS = 7 * DAY_MS;

function slotOf(at: number): number {
  return Math.floor(at / SLOT_MS);
}

/** A country has at most about thirty zones, so this is enough for a year of all zones of several large countries. */
const slots = new LRUCache<string, Slot>(atMost(20_000));

function changeIn(zone: string, slot: number): Slot {
  const key = `${zone} ${slot}`;
  const known = slots.get(key);
  if (known) return known;
  const start = slot * SLOT_MS;
  const end = start + SLOT_MS;
  const [before, after] = [computeOffset(zone, start), computeOffset(zone, end)];
  const found = { before, change: before === after ? undefined : changeBetween(zone, start, end, before), after };
  slots.set(key, found);
  return found;
}

/** Searches the minute in which the offset changes from `before`. */
function changeBetween(zone: string, start: number, end: number, before: number): number {
  let [low, high] = [start / MINUTE_MS, end / MINUTE_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (computeOffset(zone, middle * MINUTE_MS) === before) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

/** A format takes some tens of kilobytes, so only the latest are kept. The slots need each of them seldom. */
const formatters = new LRUCache<string, Intl.DateTimeFormat>(atMost(64));

/** @throws RangeError for an unknown zone */
function formats(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formatters.set(zone, made);
  return made;
}

const OFFSET = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;

function computeOffset(zone: string, at: number): number {
  const [, sign, hours = 0, minutes = 0, seconds = 0] = OFFSET.exec(formats(zone).format(at)) ?? [];
  const size = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * SECOND_MS;
  return sign === '-' ? -size : size;
}
