import { count, identifier, integer, list, moment, nullable, object, ref, text } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

const AMOUNTS = {
  units: count('Units that were charged.', { example: 12 }),
  refunded_units: count('Units that went back.', { example: 2 }),
  net_units: integer('The difference.', { example: 10 }),
  sends: count('Messages. One to several countries counts in that of its first recipient.', { example: 4 }),
  recipients: count('Recipients of these messages.', { example: 6 }),
};

/** What an account has used. */
export const UsageAmountsView = object('What was used in all.', AMOUNTS);
export interface UsageAmountsView extends TypeOf<typeof UsageAmountsView> {}

/** What an account has used, of one group. It has the fields by which was grouped. */
export const UsageItemView = object(
  'What was used of one group, with the fields by which was grouped.',
  {
    day: text('The day, UTC.', { pattern: '^\\d{4}-\\d{2}-\\d{2}$', example: '2026-11-21' }),
    channel: text('`sms`, or a messaging-app channel.', { example: 'sms' }),
    country: text('ISO 3166 code of the recipients’ numbers, or `unknown`.', { example: 'BF' }),
    signature: nullable(text('The sender name; null on channels without them.', { example: 'INFOS' })),
    key: nullable(identifier('The key that sent it; null for people and the host.', '4fzyo82mvyr1')),
    ...AMOUNTS,
  },
  ['day', 'channel', 'country', 'signature', 'key'],
);
export interface UsageItemView extends TypeOf<typeof UsageItemView> {}

/** What an account has used in a period. */
export const UsageView = object('What an account has used in a period.', {
  since: moment('The begin of the period.'),
  until: moment('Its end, not included.'),
  items: list(ref<UsageItemView>({ UsageItem: UsageItemView })),
  total: ref<UsageAmountsView>({ UsageAmounts: UsageAmountsView }),
});
export interface UsageView extends TypeOf<typeof UsageView> {}
