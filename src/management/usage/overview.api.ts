import { count, flag, list, moment, nullable, object, oneOf, record, ref, text } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

const counts = (description: string) =>
  record(count('Recipients.'), description, { example: { delivered: 40, failed: 2 } });

/** Something that somebody should look at. */
export const AttentionView = object('Something that somebody should look at.', {
  kind: oneOf(['balance_low', 'signature_rejected', 'endpoint_disabled', 'number_lost', 'key_expiring'], 'What it is.'),
  target: text('A name, the id of an endpoint or a key, a number; of a balance its threshold.', { example: '100' }),
  at: nullable(moment('When it happened or will.')),
});
export interface AttentionView extends TypeOf<typeof AttentionView> {}

/** What an account's people look at first. */
export const OverviewView = object('What the people of an account look at first.', {
  balance: count('Units that are left.', { example: 1000 }),
  oldest_waiting: nullable(moment('Since when the message waits that waits the longest.')),
  today: counts('Recipients by state, of messages of today (UTC).'),
  last_week: counts('The same of a week ago, until the same time of day.'),
  capped: object('Whether more was sent than is counted.', {
    today: flag('Today.', { example: false }),
    last_week: flag('A week ago.', { example: false }),
  }),
  attention: list(ref<AttentionView>({ Attention: AttentionView })),
});
export interface OverviewView extends TypeOf<typeof OverviewView> {}
