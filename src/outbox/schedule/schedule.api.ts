import { count, moment, nullable, object } from '../../schemas/builders.js';
import type { TypeOf } from '../../schemas/schema.js';
import { DeliveryWindow } from '../windows/window.api.js';

/** The fields of a look-up that say when a send is handed over. */
export const SCHEDULE_VIEW = {
  send_at: nullable(moment('The earliest moment of the hand-over. Null: the acceptance.')),
  valid_until: nullable(
    moment('A recipient that is not handed over by then is `failed` with the error `expired`. Null: no limit.'),
  ),
  window: nullable(DeliveryWindow),
};

/** When a send is handed over, as look-ups show it. */
export interface ScheduleView {
  readonly send_at: string | null;
  readonly valid_until: string | null;
  readonly window: DeliveryWindow | null;
}

/** The field of a recipient that says when it is due. */
export const DUE = nullable(
  moment('While it waits: when it is handed over next, at the earliest. Null if it does not wait.'),
);

/** The answer to a cancellation. */
export const CanceledMessage = object('What was canceled.', {
  canceled: count('How many recipients this request has canceled.', { example: 3 }),
  too_late: count(
    'How many recipients could not be canceled, because a worker had already claimed them, or they had reached a final state.',
    { example: 1 },
  ),
  refunded_units: count('Units that this request has refunded.', { example: 3 }),
});
export interface CanceledMessage extends TypeOf<typeof CanceledMessage> {}
