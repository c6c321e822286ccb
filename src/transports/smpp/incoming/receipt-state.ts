import type { SmsReport } from '../../../sms/sms-transport.js';

/**
 * What the states of SMPP 3.4 (section 5.2.28 and appendix B) mean here.
 *
 * `REJECTD`: the carrier refused it for good, after it had taken it at first; so it is `failed`, and its units go back. The
 * other failures are the phone's or the network's: the carrier did its work, nothing goes back. `FAILED` is no state of the
 * standard, and is used for those.
 */
const STATUS_OF: Readonly<Record<string, SmsReport['status']>> = {
  SCHEDULED: 'sent',
  ENROUTE: 'sent',
  ACCEPTED: 'sent',
  ACCEPTD: 'sent',
  DELIVERED: 'delivered',
  DELIVRD: 'delivered',
  EXPIRED: 'undelivered',
  DELETED: 'undelivered',
  UNDELIVERABLE: 'undelivered',
  UNDELIV: 'undelivered',
  FAILED: 'undelivered',
  REJECTED: 'failed',
  REJECTD: 'failed',
  UNKNOWN: 'unknown',
};

/** By the value of the parameter message_state; 0 is SMPP 5.0's. */
const STATES = [
  ...['SCHEDULED', 'ENROUTE', 'DELIVRD', 'EXPIRED', 'DELETED'],
  ...['UNDELIV', 'ACCEPTD', 'UNKNOWN', 'REJECTD'],
] as const;

/** The state that a message_state stands for, as a receipt's text writes it; undefined when there is none of that number. */
export function stateOf(messageState: number): string | undefined {
  return STATES[messageState];
}

/** The status of a state; one that nobody knows is `unknown`. */
export function statusOf(state: string): SmsReport['status'] {
  return (isKnownState(state) ? STATUS_OF[state.toUpperCase()] : undefined) ?? 'unknown';
}

/** Whether it is a name of a state, in any case. */
export function isKnownState(state: string): boolean {
  return Object.hasOwn(STATUS_OF, state.toUpperCase());
}
