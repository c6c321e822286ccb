import type { Booking } from './line.js';

/** SMS that go out together. */
export interface Slice {
  /** When, milliseconds since the epoch. */
  readonly at: number;
  readonly indexes: readonly number[];
}

/** How far apart the times of SMS that go together may be. */
const SLICE_MS = 100;

/** Puts SMS together whose times are close, each slice at the time of its last; `later` has those that must come again. */
export function slicesOf(bookings: readonly Booking[]): {
  readonly slices: readonly Slice[];
  readonly later: readonly { readonly index: number; readonly at: number }[];
} {
  const slices: { at: number; from: number; indexes: number[] }[] = [];
  const later: { index: number; at: number }[] = [];
  for (const [index, { at, booked }] of bookings.entries()) {
    const last = slices.at(-1);
    if (!booked) later.push({ index, at });
    else if (last && at - last.from < SLICE_MS) {
      last.indexes.push(index);
      last.at = at;
    } else slices.push({ at, from: at, indexes: [index] });
  }
  return { slices, later };
}
