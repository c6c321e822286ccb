import { PRIORITIES } from '../../../outbox/queue/priority.api.js';
import { count, list, moment, nullable, object, oneOf, ref, text } from '../../../schemas/builders.js';
import { type TypeOf } from '../../../schemas/schema.js';

/** Where the count of a queue stops. */
export const MAX_COUNTED = 100_000;

/** What waits in a channel with a priority. */
export const QueueDepthView = object('What waits in a channel with a priority.', {
  channel: text('The channel.', { example: 'sms' }),
  priority: oneOf(PRIORITIES, 'The priority.'),
  depth: count('How many wait for an attempt, one for each recipient; the count stops at the maximum.', {
    maximum: MAX_COUNTED,
  }),
  oldest_due: nullable(moment('The earliest time at which one is due; null where nothing waits.')),
});
export interface QueueDepthView extends TypeOf<typeof QueueDepthView> {}

/** A pause. */
export const PauseView = object('Queues of which nothing is claimed.', {
  channel: nullable(text('Of this channel; null: of all.', { example: 'sms' })),
  account: nullable(text('Of this account; null: of all.')),
  since: moment('Since when.'),
});
export interface PauseView extends TypeOf<typeof PauseView> {}

/** The pauses that there are. */
export const PausesView = object('What is paused.', { paused: list(ref<PauseView>({ Pause: PauseView })) });
export interface PausesView extends TypeOf<typeof PausesView> {}

/** The queues. */
export const QueuesView = object('The queues.', {
  items: list(ref<QueueDepthView>({ QueueDepth: QueueDepthView })),
  paused: list(ref<PauseView>({ Pause: PauseView })),
});
export interface QueuesView extends TypeOf<typeof QueuesView> {}
