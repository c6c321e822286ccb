import type { Priority } from '../../../outbox/queue/priority.api.js';

/** The SMPP priority_flag of a gateway that sends by SMPP. Without it, the gateway sends 0. */
const PRIORITIES: Readonly<Record<Priority, string | undefined>> = {
  code: '3',
  high: '2',
  normal: undefined,
  bulk: undefined,
};

/** The priority_flag of an SMS; undefined for the gateway's own. */
export function priorityFlag(priority: Priority = 'normal'): string | undefined {
  return PRIORITIES[priority];
}

/** The rest of the lifetime in whole minutes, at least one; undefined for the gateway's own. */
export function validityMinutes(lifeSeconds: number | undefined): string | undefined {
  return lifeSeconds === undefined ? undefined : String(Math.max(1, Math.floor(lifeSeconds / 60)));
}
