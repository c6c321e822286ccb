import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessagingError } from '../../common/errors.js';
import { countryOf } from '../../common/phone-numbers/phone-number.js';
import { nextSpan, spanIn } from './opening.js';
import { type DeliveryWindow, RECIPIENT_ZONE } from './window.api.js';

/** The number of recipients after which the event loop may handle other requests. */
const YIELD_AFTER = 10_000;

/** The length of the code that a message names instead of a country, for numbers without one such as +883. */
const CODE_LENGTH = 3;

/**
 * When the recipients of a send are due: each at the first moment from `at` on that is inside the window.
 *
 * @param at milliseconds since the epoch: `send_at`, else now
 * @returns the time of all recipients if it is the same, else a list with one time for each
 * @throws MessagingError `error.window_empty` with the country of the first recipient whose window never opens
 */
export async function firstOpenings(
  window: DeliveryWindow,
  numbers: readonly string[],
  at: number,
): Promise<number | readonly number[]> {
  if (window.zone !== RECIPIENT_ZONE) {
    const opening = spanIn(window, undefined, at)?.opens;
    if (opening === undefined) throw neverOpens(window, '');
    return opening;
  }
  const byCountry = new Map<string | undefined, number>();
  const times: number[] = [];
  for (const [index, number] of numbers.entries()) {
    const country = countryOf(number);
    const due = byCountry.get(country) ?? spanIn(window, country, at)?.opens;
    if (due === undefined) throw neverOpens(window, number);
    byCountry.set(country, due);
    times.push(due);
    if (index % YIELD_AFTER === YIELD_AFTER - 1) await nextTurn();
  }
  const [first = at] = times;
  return byCountry.size === 1 || new Set(byCountry.values()).size === 1 ? first : times;
}

/**
 * When one recipient is due, as {@link firstOpenings}.
 * @throws MessagingError `error.window_empty`
 */
export function openingOf(window: DeliveryWindow, number: string, at: number): number {
  const opening = nextSpan(window, number, at)?.opens;
  if (opening === undefined) throw neverOpens(window, number);
  return opening;
}

function neverOpens({ zone }: DeliveryWindow, number: string): MessagingError {
  const country = zone === RECIPIENT_ZONE ? (countryOf(number) ?? `+${number.slice(0, CODE_LENGTH)}`) : zone;
  return new MessagingError('error.window_empty', { country });
}
