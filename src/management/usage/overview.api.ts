import { count, flag, list, moment, nullable, object, oneOf, record, ref, text } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

const counts = (description: string) =>
  record(count('Recipients.'), description, { example: { delivered: 40, failed: 2 } });

/** A fact that needs somebody's attention. */
export const AttentionView = object('A fact that needs somebody’s attention.', {
  kind: oneOf(
    ['balance_low', 'signature_rejected', 'endpoint_disabled', 'number_lost', 'key_expiring'],
    'The kind of fact.',
  ),
  target: text('A name, the id of an endpoint or of a key, or a number. For a low balance it is the threshold.', {
    example: '100',
  }),
  at: nullable(moment('When it happened or will happen.')),
});
export interface AttentionView extends TypeOf<typeof AttentionView> {}

/** The overview of an account, which its people look at first. */
export const OverviewView = object('The overview of an account.', {
  balance: count('The units that are left.', { example: 1000 }),
  oldest_waiting: nullable(moment('Since when the oldest waiting message waits.')),
  today: counts('The recipients of today’s messages (UTC), by state.'),
  last_week: counts('The same for the day a week ago, until the same time of day.'),
  capped: object('Whether there are more recipients than were counted.', {
    today: flag('Today.', { example: false }),
    last_week: flag('A week ago.', { example: false }),
  }),
  attention: list(ref<AttentionView>({ Attention: AttentionView })),
});
export interface OverviewView extends TypeOf<typeof OverviewView> {}
