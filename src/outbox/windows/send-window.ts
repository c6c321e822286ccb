import type { Send } from '../accept/send.js';
import { zoneNumberOf } from './attempt-time.js';
import { firstOpenings } from './first-openings.js';
import { readWindow } from './read-window.js';
import type { DeliveryWindow } from './window.api.js';

/**
 * The window of a send: that of the caller, or the default if the caller gives none. Null: no window.
 * @throws MessagingError `error.window_invalid`
 */
export function chosenWindow(given: unknown, byDefault?: DeliveryWindow): DeliveryWindow | undefined {
  if (given === null) return undefined;
  return given === undefined ? byDefault : readWindow(given);
}

/**
 * Returns a send with a window: each recipient is due at the first moment inside it, from the time of the send on.
 * @throws MessagingError `error.window_empty` if a recipient's window does not open
 */
export async function withWindow(send: Send, window: DeliveryWindow | undefined): Promise<Send> {
  if (window === undefined) return send;
  const schedule = { ...send.schedule, window };
  const reached = send.recipients.filter(({ refused }) => refused === undefined);
  const due = await firstOpenings(
    window,
    reached.map(({ number }) => zoneNumberOf({ number, sender: send.sender })),
    schedule.sendAt ?? send.at,
  );
  if (typeof due === 'number') return { ...send, schedule, dueAt: due };
  const times = new Map(reached.map(({ number }, index) => [number, due[index]]));
  const recipients = send.recipients.map((recipient) => {
    const dueAt = times.get(recipient.number);
    return dueAt === undefined ? recipient : { ...recipient, dueAt };
  });
  return { ...send, schedule, recipients };
}
