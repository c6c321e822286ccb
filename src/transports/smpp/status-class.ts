import { STATUS } from './pdu/command.js';

/**
 * The class of a refusal.
 *
 * `throttled`: too fast; the whole link slows down. `temporary`: the carrier cannot accept this submit now. This
 * includes a full queue, because it may be that of one phone, which must not slow down the others. `permanent`: the
 * carrier will never accept this submit. `unclear`: all other codes; they get a few attempts.
 */
type StatusClass = 'throttled' | 'temporary' | 'permanent' | 'unclear';

const TEMPORARY: readonly number[] = [STATUS.systemError, STATUS.queueFull, STATUS.receiverTemporaryError];

/** Errors of the submit itself, which every repetition would have too (SMPP 3.4 section 5.1.3). */
const PERMANENT: readonly (readonly [first: number, last: number])[] = [
  // Lengths and command.
  [0x01, 0x03],
  // Priority and registered_delivery.
  [0x06, 0x07],
  // Addresses.
  [0x0a, 0x0b],
  [0x15, 0x15],
  [0x33, 0x34],
  // Destination flag, esm_class, distribution list; types of numbers.
  [0x40, 0x44],
  [0x48, 0x51],
  // System type, replace flag, number of messages, times, predefined message.
  [0x53, 0x55],
  [0x61, 0x63],
  // Permanent errors of the receiving application.
  [0x65, 0x66],
  // Optional parameters.
  [0xc0, 0xc4],
];

/** @param status the command_status of a refusal, not 0 */
export function statusClass(status: number): StatusClass {
  if (status === STATUS.throttled) return 'throttled';
  if (TEMPORARY.includes(status)) return 'temporary';
  return PERMANENT.some(([first, last]) => status >= first && status <= last) ? 'permanent' : 'unclear';
}

/** The carrier's code in records, such as `0x0b`. */
export function statusCode(status: number): string {
  return `0x${status.toString(16).padStart(2, '0')}`;
}
