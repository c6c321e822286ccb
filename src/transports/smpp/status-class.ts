import { STATUS } from './pdu/command.js';

/**
 * What a refused submit means.
 *
 * `throttled`: too fast, the whole link slows down. `temporary`: the carrier cannot now take this one. A full queue is
 * among them: it may be that of one phone, which must not slow down all others. `permanent`: it never will take this one.
 * `unclear`: everything else, worth a few tries.
 */
export type StatusClass = 'throttled' | 'temporary' | 'permanent' | 'unclear';

const TEMPORARY: readonly number[] = [STATUS.systemError, STATUS.queueFull, STATUS.receiverTemporaryError];

/** What is wrong with the submit itself, so that every repetition would be refused too (SMPP 3.4 section 5.1.3). */
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
  // The receiving application refuses for good.
  [0x65, 0x66],
  // Optional parameters.
  [0xc0, 0xc4],
];

/** @param status the command_status of an answer, not 0 */
export function statusClass(status: number): StatusClass {
  if (status === STATUS.throttled) return 'throttled';
  if (TEMPORARY.includes(status)) return 'temporary';
  return PERMANENT.some(([first, last]) => status >= first && status <= last) ? 'permanent' : 'unclear';
}

/** The carrier's code as it is recorded: `0x0b`. */
export function statusCode(status: number): string {
  return `0x${status.toString(16).padStart(2, '0')}`;
}
