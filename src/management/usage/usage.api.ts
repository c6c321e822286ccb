import { count, identifier, integer, list, moment, nullable, object, ref, text } from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

export const USAGE_GROUPS = ['day', 'channel', 'country', 'signature', 'key'] as const;

/** A value by which usage can be grouped. */
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const AMOUNTS = {
  units: count('Units that were charged.', { example: 12 }),
  refunded_units: count('Units that were refunded.', { example: 2 }),
  net_units: integer('Charged units minus refunded units.', { example: 10 }),
  sends: count('Messages. A message to several countries counts for the country of its first recipient.', {
    example: 4,
  }),
  recipients: count('Recipients of these messages.', { example: 6 }),
};

/** The usage of an account. */
export const UsageAmountsView = object('The total usage.', AMOUNTS);
export interface UsageAmountsView extends TypeOf<typeof UsageAmountsView> {}

/** The usage of an account in one group. It has the fields of the requested groups. */
export const UsageItemView = object(
  'The usage in one group, with the fields of the requested groups.',
  {
    day: text('The day, UTC.', { pattern: '^\\d{4}-\\d{2}-\\d{2}$', example: '2026-11-21' }),
    channel: text('`sms`, or a messaging-app channel.', { example: 'sms' }),
    country: text('ISO 3166 code of the recipients’ numbers, or `unknown`.', { example: 'BF' }),
    signature: nullable(text('The sender name. Null on channels without sender names.', { example: 'INFOS' })),
    key: nullable(identifier('The API key that sent the messages. Null for people and the host.', '4fzyo82mvyr1')),
    ...AMOUNTS,
  },
  USAGE_GROUPS,
);
export interface UsageItemView extends TypeOf<typeof UsageItemView> {}

/** The usage of an account in a period. */
export const UsageView = object('The usage of an account in a period.', {
  since: moment('The beginning of the period.'),
  until: moment('The end of the period, which is not included.'),
  items: list(ref<UsageItemView>({ UsageItem: UsageItemView })),
  total: ref<UsageAmountsView>({ UsageAmounts: UsageAmountsView }),
});
export interface UsageView extends TypeOf<typeof UsageView> {}
