import { PRIORITIES } from '../../../outbox/queue/priority.api.js';
import { count, list, moment, nullable, object, oneOf, ref, text } from '../../../schemas/builders.js';
import { type TypeOf } from '../../../schemas/schema.js';

/** The number at which the count of a queue stops. */
export const MAX_COUNTED = 100_000;

/** The waiting messages of a channel with one priority. */
export const QueueDepthView = object('The waiting messages of a channel with one priority.', {
  channel: text('The channel.', { example: 'sms' }),
  priority: oneOf(PRIORITIES, 'The priority.'),
  depth: count('How many messages wait for an attempt, one for each recipient. The count stops at the maximum.', {
    maximum: MAX_COUNTED,
  }),
  oldest_due: nullable(moment('The earliest time at which a message is due. Null if no message waits.')),
});
export interface QueueDepthView extends TypeOf<typeof QueueDepthView> {}

/** A pause. */
export const PauseView = object('Queues from which no messages are sent.', {
  channel: nullable(text('The channel. Null: all channels.', { example: 'sms' })),
  account: nullable(text('The account. Null: all accounts.')),
  since: moment('Since when the pause lasts.'),
});
export interface PauseView extends TypeOf<typeof PauseView> {}

/** All pauses. */
export const PausesView = object('All pauses.', { paused: list(ref<PauseView>({ Pause: PauseView })) });
export interface PausesView extends TypeOf<typeof PausesView> {}

/** The queues. */
export const QueuesView = object('The queues.', {
  items: list(ref<QueueDepthView>({ QueueDepth: QueueDepthView })),
  paused: list(ref<PauseView>({ Pause: PauseView })),
});
export interface QueuesView extends TypeOf<typeof QueuesView> {}
