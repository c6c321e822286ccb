import type { Writable } from '../../common/writable.js';
import type { Delivery } from '../outbox-records.js';
import { holdRow } from '../settle/held-rows.js';
import { costOf, type Send } from './send.js';

/** The deliveries of a send that is stored with a lease. They are the same as those that a claim would return. */
export function deliveriesOf(send: Send): readonly Delivery[] {
  const { leaseUntil } = send;
  const message = { recipients: send.recipients.length, units: costOf(send), metadata: send.metadata };
  return send.recipients.map(({ number, units, vars }, position) => {
    // The fields are written out, as in a claim (`toDelivery`). The compiler names a field that is missing here.
    const delivery: Writable<Delivery> = {
      messageId: send.id,
      position,
      accountId: send.accountId,
      channel: send.channel,
      lane: send.lane,
      priority: send.priority ?? 'normal',
      sender: send.sender,
      payload: send.payload,
      number,
      attempt: 1,
      acceptedAt: send.at,
    };
    if (vars !== undefined) delivery.vars = vars;
    if (send.trace !== undefined) delivery.trace = send.trace;
    if (leaseUntil !== undefined) holdRow({ delivery, leaseUntil, units, storedAttempts: 0, message });
    return delivery;
  });
}
