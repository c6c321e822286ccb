import type { Schedule } from '../schedule/schedule.js';
import type { Send } from './send.js';

/** How many recipients of a send are due at the same time. */
export const TOGETHER = 500;

/**
 * When the first recipients of a send are due, milliseconds since the epoch. Each group of `TOGETHER` recipients is due a
 * millisecond after the group before it. Claims search from a time on. If all 100 000 recipients had the same time, each
 * claim would walk over the index entries of all recipients that were claimed before. The last group of a plain send is
 * due when the send is accepted. The first group of a scheduled send is due at its time, because none may be early.
 */
export function firstDueOf(send: Send): number {
  const { at, recipients } = send;
  const plain = at - Math.floor((recipients.length - 1) / TOGETHER);
  if ((send.dueAt ?? send.schedule?.sendAt) === undefined && !hasOwnTimes(send)) return plain;
  if (!hasOwnTimes(send)) return startOfRecipient(send, undefined);
  let first = Number.POSITIVE_INFINITY;
  for (const { dueAt } of recipients) first = Math.min(first, startOfRecipient(send, dueAt));
  return first;
}

/** Whether a send of a lane waits outside its lane, because it is not due yet; see `PARKED_QUEUE`. */
export function isParked(send: Send): boolean {
  return send.lane !== undefined && firstDueOf(send) > send.at;
}

/** Whether the recipients are due at different times, besides their groups. */
export function hasOwnTimes({ recipients }: Send): boolean {
  return recipients.some(({ dueAt }) => dueAt !== undefined);
}

/** Returns a function that says when the recipient at a position is due. */
export function dueTimesOf(send: Send): (position: number) => number {
  const first = firstDueOf(send);
  const ownTimes = hasOwnTimes(send);
  return (position) => {
    const start = ownTimes ? startOfRecipient(send, send.recipients[position]?.dueAt) : first;
    return start + Math.floor(position / TOGETHER);
  };
}

function startOfRecipient({ at, dueAt: whole, schedule }: Send, dueAt: number | undefined): number {
  return startWithin(schedule, at, dueAt ?? whole ?? schedule?.sendAt ?? at);
}

/**
 * A recipient that would be due after the end of its validity is due at its end, so that a claim finds it expired. None is
 * due before the present time `at`.
 */
export function startWithin(schedule: Schedule | undefined, at: number, due: number): number {
  return Math.max(at, Math.min(due, schedule?.validUntil ?? due));
}
