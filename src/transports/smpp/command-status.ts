import { STATUS } from './pdu/command.js';

/**
 * The class of a refusal: what the refusal is about.
 *
 * `message`: this SMS. It is refused for good, and refunded unless earlier parts were accepted. `bind`: the connection or its
 * login. The link reconnects and binds again, and the SMS waits, which costs no attempt. `route`: every SMS that this account
 * sends. The links of the route rest, and the SMS waits, which costs no attempt. `later`: this SMS, for now. It is tried again
 * after a while, which costs an attempt. `throttled`: the link was too fast. The whole link slows down and submits the SMS again
 * itself.
 */
export type SmppStatusClass = (typeof STATUS_CLASSES)[number];

/** All classes of a status. */
export const STATUS_CLASSES = ['message', 'bind', 'route', 'later', 'throttled'] as const;

/** The reaction of a link to one command_status. */
export interface StatusRule {
  readonly about: SmppStatusClass;
  /** Why the status belongs to its class. */
  readonly reason: string;
  /** True: the status does not say whether a repetition can succeed, so the SMS is given up after the third refusal. */
  readonly unclear?: true;
}

type Row = readonly [first: number, last: number, about: SmppStatusClass | 'unclear', reason: string];

/**
 * Every command_status of SMPP 3.4 (section 5.1.3) and SMPP 5.0 (section 4.7.6) and the reserved ranges, in ascending order. A
 * status above the last row is unclear.
 *
 * If the status is about a field that has the same value in every submit of a link, it is a `route` error, because the next SMS
 * has the same value. If the field comes from the SMS itself, it is a `message` error, because the next SMS may have a right
 * value. In doubt we blame the message, because a wrong refusal costs one SMS, which is refunded, but a wrong rest stops all SMS.
 */
const ROWS: readonly Row[] = [
  [0x01, 0x01, 'message', 'The text is too long or too short for this carrier.'],
  [0x02, 0x02, 'message', 'The PDU is too long for this carrier, and its length comes from the text.'],
  [0x03, 0x03, 'bind', 'The SMSC does not know submit_sm on this bind, or it has lost its place in the stream.'],
  [0x04, 0x04, 'bind', 'The SMSC believes that we are not bound, or bound as a receiver.'],
  [0x05, 0x05, 'bind', 'The SMSC believes that a submit is a second bind, so it mixes up our connections.'],
  [0x06, 0x06, 'route', 'priority_flag is 0 in every submit.'],
  [0x07, 0x07, 'route', 'registered_delivery is 1 in every submit.'],
  [0x08, 0x08, 'later', 'The SMSC has an internal error, which passes.'],
  [0x09, 0x09, 'unclear', 'Reserved.'],
  [0x0a, 0x0a, 'message', 'The sender comes from the SMS, and other senders may be allowed.'],
  [0x0b, 0x0b, 'message', 'The recipient comes from the SMS.'],
  [0x0c, 0x0c, 'unclear', 'A message id is part of queries, which we never send.'],
  [0x0d, 0x0d, 'bind', 'The bind failed: the SMSC has closed the login behind our back.'],
  [0x0e, 0x0e, 'bind', 'The password is no longer right. The next bind shows whether it is.'],
  [0x0f, 0x0f, 'bind', 'The system id is no longer known. The next bind shows whether it is.'],
  [0x10, 0x10, 'unclear', 'Reserved.'],
  [0x11, 0x11, 'unclear', 'cancel_sm failed, which we never send.'],
  [0x12, 0x12, 'unclear', 'Reserved.'],
  [0x13, 0x13, 'unclear', 'replace_sm failed, which we never send.'],
  [0x14, 0x14, 'later', 'A queue is full. It may be that of one phone, so the link does not slow down.'],
  [0x15, 0x15, 'route', 'service_type is an option of the link, alike in every submit.'],
  [0x16, 0x32, 'unclear', 'Reserved.'],
  [
    0x33,
    0x34,
    'message',
    'The SMSC reads a list of recipients, which no submit of ours has: it reads this one wrongly.',
  ],
  [0x35, 0x3f, 'unclear', 'Reserved.'],
  [0x40, 0x40, 'message', 'The flag of an entry in a list of recipients, see 0x33.'],
  [0x41, 0x41, 'unclear', 'Reserved.'],
  [0x42, 0x42, 'route', 'replace_if_present_flag is 0 in every submit.'],
  [0x43, 0x43, 'message', 'esm_class differs between short and long texts, so short ones may pass.'],
  [0x44, 0x44, 'message', 'A distribution list, see 0x33.'],
  [0x45, 0x45, 'unclear', 'The submit failed. Carriers answer it to anything, from a full queue to an empty purse.'],
  [0x46, 0x47, 'unclear', 'Reserved.'],
  [0x48, 0x49, 'message', 'Type and plan of the sender come from the SMS: a name, a short code or a number.'],
  [0x4a, 0x4f, 'unclear', 'Reserved.'],
  [0x50, 0x51, 'message', 'Type and plan of the recipient come from the SMS if the link writes national numbers.'],
  [0x52, 0x52, 'unclear', 'Reserved.'],
  [0x53, 0x53, 'bind', 'system_type is part of the bind.'],
  [0x54, 0x54, 'route', 'replace_if_present_flag is 0 in every submit.'],
  [0x55, 0x55, 'message', 'A number of messages, see 0x33.'],
  [0x56, 0x57, 'unclear', 'Reserved.'],
  [0x58, 0x58, 'throttled', 'We submit faster than the contract allows.'],
  [0x59, 0x60, 'unclear', 'Reserved.'],
  [0x61, 0x61, 'message', 'A time of delivery, which we never write: carriers mean the validity period of this SMS.'],
  [0x62, 0x62, 'message', 'The validity period comes from the SMS; see the option `validity`.'],
  [0x63, 0x63, 'route', 'sm_default_msg_id is 0 in every submit.'],
  [0x64, 0x64, 'later', 'The receiving application has an error that passes.'],
  [0x65, 0x65, 'message', 'The receiving application refuses this SMS for good.'],
  [0x66, 0x66, 'message', 'The receiving application rejects this SMS.'],
  [0x67, 0x67, 'unclear', 'query_sm failed, which we never send.'],
  [0x68, 0xbf, 'unclear', 'Reserved.'],
  [0xc0, 0xc4, 'message', 'Optional parameters are part of long texts only, so short ones may pass.'],
  [0xc5, 0xfd, 'unclear', 'Reserved.'],
  [0xfe, 0xfe, 'unclear', 'The delivery failed, without a reason.'],
  [0xff, 0xff, 'unclear', 'An unknown error.'],
  [0x100, 0x100, 'route', 'The account may not use the service_type, which is alike in every submit.'],
  [0x101, 0x101, 'route', 'The account may not submit at all.'],
  [0x102, 0x103, 'route', 'The service_type is not available or denied, and it is alike in every submit.'],
  [0x104, 0x104, 'message', 'data_coding comes from the text: GSM-7 or UCS-2.'],
  [0x105, 0x106, 'message', 'Part of an address, which comes from the SMS.'],
  [0x107, 0x112, 'unclear', 'An error of a broadcast, which we never send.'],
  [0x113, 0x3ff, 'unclear', 'Reserved.'],
  [0x400, 0x4ff, 'unclear', 'Only the carrier knows what it means; see the option `statuses`.'],
];

/**
 * Returns the reaction of a link to a command_status.
 *
 * @param status the command_status of a refusal, not 0
 * @param own the classes that the link's option `statuses` sets
 */
export function statusRule(status: number, own?: ReadonlyMap<number, SmppStatusClass>): StatusRule {
  const chosen = own?.get(status);
  if (chosen) return { about: chosen, reason: 'The option `statuses` of the link says so.' };
  const [, , about, reason] = ROWS.find(([first, last]) => status >= first && status <= last) ?? UNKNOWN;
  return about === 'unclear' ? { about: 'later', reason, unclear: true } : { about, reason };
}

const UNKNOWN: Row = [0x500, 0xffffffff, 'unclear', 'Reserved.'];

/**
 * Whether a refusal proves that the carrier did not accept the submit, however late the refusal arrives. An unclear refusal
 * proves nothing, and a system error may have occurred after the SMS was accepted.
 */
export function provesRefusal(status: number, own?: ReadonlyMap<number, SmppStatusClass>): boolean {
  return status !== STATUS.systemError && !statusRule(status, own).unclear;
}

/** Returns the carrier's code for records, such as `0x0b`. */
export function statusCode(status: number): string {
  return `0x${status.toString(16).padStart(2, '0')}`;
}
