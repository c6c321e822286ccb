import { PAUSE_REASONS } from '../events/events.api.js';
import { DeliveryWindow, GivenWindow } from '../outbox/windows/window.api.js';
import {
  count,
  EXAMPLE,
  flag,
  identifier,
  list,
  metadata,
  moment,
  nextCursor,
  nullable,
  object,
  oneOf,
  page,
  phoneNumber,
  ref,
  shownNumber,
  text,
  yes,
} from '../schemas/builders.js';
import type { TypeOf } from '../schemas/schema.js';

/** How many characters a campaign's name may have. */
export const MAX_NAME = 128;

/** The most recipients of a campaign. */
export const MAX_CAMPAIGN_RECIPIENTS = 1_000_000;

/** The highest speed limit. */
export const MAX_PER_MINUTE = 1_000_000;

/** How many wrong rows of an import the answer names. */
export const MAX_IMPORT_ERRORS = 100;

/** Values that examples share. */
export const EXAMPLE_CAMPAIGN = '019d0f52-3a00-7d41-9b0e-6c8f4a2d1e36';

/** The states of a campaign, in their order. */
export const CAMPAIGN_STATUSES = ['draft', 'scheduled', 'running', 'paused', 'completed', 'canceled'] as const;
/** The state of a campaign. */
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

/** The states in which a process looks after a campaign, or counts the states of its SMS. */
export const WORKING_STATUSES = CAMPAIGN_STATUSES.filter((status) => status !== 'draft');

/** The states of a campaign's recipients. */
export const RECIPIENT_STATUSES = [
  'pending',
  'queued',
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'unknown',
  'canceled',
  'opted_out',
] as const;
/** The state of a campaign's recipient. */
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number];

const STATUS = oneOf(
  CAMPAIGN_STATUSES,
  'The state. `completed`: every recipient has become an SMS, and none of them waits to be handed over; its counts change until the last report has come.',
);
const NAME = text('A name for people.', { minLength: 1, maxLength: MAX_NAME, example: 'Soldes' });
const CONTENT = text('The text, with `{name}` for the variables of each recipient.', {
  minLength: 1,
  example: 'Bonjour {name}, nos soldes commencent demain.',
});
const SIGNATURE = text('The sender name.', { example: 'INFOS' });
const REASON = oneOf(
  PAUSE_REASONS,
  '`user`: somebody paused it. `insufficient_balance`: the balance does not pay the next SMS. `account_suspended`. `channel_paused`: an operator paused SMS. `send_refused`: the next SMS was refused, for example because the signature was rejected.',
);

/** The fields that the owner of a campaign decides, as in request bodies. */
export const CAMPAIGN_FIELDS = {
  name: NAME,
  signature: text('The sender name. It may be left out if the template has one.', { example: 'INFOS' }),
  content: CONTENT,
  template: text(
    'The name of a template, in place of `content`. The campaign keeps the text that the template has now.',
  ),
  send_at: moment('When it starts at the earliest; at once if it is left out.'),
  per_minute: count('The most SMS per minute; as fast as the carriers take them if it is left out.', {
    minimum: 1,
    maximum: MAX_PER_MINUTE,
    example: 600,
  }),
  valid_for:
    'Seconds from the acceptance of each SMS. An SMS that is not handed over by then is `failed` with the error `expired`, and its units are refunded. Default: no limit.',
  window: GivenWindow,
  national: flag('Whether numbers of the home market may be given in national form.', { example: true }),
};

/** How many recipients are in each state. */
export const CampaignCounts = object('How many recipients are in each state.', {
  pending: count('Not yet an SMS. After `canceled` there is none.', { example: 4000 }),
  queued: count('The SMS waits for its hand-over to a carrier.', { example: 1000 }),
  sent: count('A carrier has the SMS.', { example: 20 }),
  delivered: count('The SMS reached the phone.', { example: 4900 }),
  undelivered: count('The carrier could not deliver the SMS.', { example: 30 }),
  failed: count('The SMS was refused for good. Its units were refunded.', { example: 10 }),
  unknown: count('There is no reliable result.', { example: 5 }),
  canceled: count('The recipient will get no SMS, because the campaign or the SMS was canceled.', { example: 0 }),
  opted_out: count('The number had opted out of the signature when its turn came. It cost nothing.', { example: 35 }),
});
export interface CampaignCounts extends TypeOf<typeof CampaignCounts> {}

/** A campaign in answers of the API. */
export const CampaignView = object('A campaign.', {
  id: identifier('The campaign.', EXAMPLE_CAMPAIGN),
  name: NAME,
  signature: SIGNATURE,
  content: text('The text; empty if it was removed.', { example: 'Bonjour {name}, nos soldes commencent demain.' }),
  template: nullable(text('The template that the text is a copy of; null: none.', { example: 'sales' })),
  send_at: nullable(moment('When it starts at the earliest; null: at once.')),
  per_minute: nullable(count('The most SMS per minute; null: no limit.', { minimum: 1, example: 600 })),
  valid_for: nullable(
    count('Seconds from the acceptance of each SMS to the latest hand-over; null: no limit.', {
      minimum: 5,
      example: 86_400,
    }),
  ),
  window: nullable(DeliveryWindow),
  national: flag('Whether numbers of the home market may be given in national form.', { example: false }),
  metadata,
  status: STATUS,
  pause_reason: nullable(REASON),
  recipients_count: count('The number of recipients.', { example: 10_000 }),
  counts: CampaignCounts,
  units: count('The units charged so far.', { example: 6000 }),
  refunded_units: count('The units refunded so far.', { example: 10 }),
  created_at: moment('When it was made.'),
  started_at: nullable(moment('When its first start took effect; null before.')),
  ended_at: nullable(moment('When it was completed or canceled; null before.')),
  expected_end: nullable(moment('When its last SMS will be accepted at the present speed; null unless it is running.')),
});
export interface CampaignView extends TypeOf<typeof CampaignView> {}

/** A page of campaigns, the newest first. */
export const CampaignPage = page<CampaignView>('Campaigns, the newest first.', { Campaign: CampaignView });
export interface CampaignPage extends TypeOf<typeof CampaignPage> {}

/** A row that was not imported. */
export const ImportFault = object('A row that was not imported.', {
  row: count('The line of the file in which the row begins, from 1; of a JSON list, its place in the list, from 1.', {
    minimum: 1,
    example: 17,
  }),
  value: text('The wrong value, shortened: the number, or the name of the variable.', { example: '7000000' }),
  reason: text('What is wrong, as an error code.', { example: 'invalid_number' }),
});
export interface ImportFault extends TypeOf<typeof ImportFault> {}

/** The result of an import. */
export const ImportResult = object('The result of an import.', {
  imported: count('How many recipients were added.', { example: 9990 }),
  duplicates: count('How many rows had a phone that the campaign already had. The first one counts.', { example: 7 }),
  invalid: count('How many rows were wrong. They were left out.', { example: 3 }),
  errors: list(ref({ ImportFault }), { description: `The first ${MAX_IMPORT_ERRORS} wrong rows.` }),
});
export interface ImportResult extends TypeOf<typeof ImportResult> {}

/** The price of a campaign. */
export const CampaignQuote = object('The price of a campaign. Opted-out numbers cost nothing.', {
  recipients: count('The number of recipients.', { example: 10_000 }),
  units: count('What the campaign costs.', { example: 10_400 }),
  opted_out: count('How many numbers have opted out of the signature.', { example: 35 }),
  invalid: count('How many recipients cannot be sent to, because the settings changed since the import.', {
    example: 0,
  }),
  distribution: list(
    object('The recipients whose text has a number of segments.', {
      segments: count('The number of segments.', { minimum: 1, example: 1 }),
      recipients: count('How many recipients.', { example: 9500 }),
      units: count('What they cost.', { example: 9500 }),
    }),
  ),
  countries: list(
    object('The recipients in a country.', {
      country: nullable(text('ISO 3166 alpha-2; null for numbers of no country.', { example: 'BF' })),
      recipients: count('How many recipients.', { example: 9965 }),
      units: count('What they cost.', { example: 9965 }),
    }),
  ),
  longest: nullable(
    object('The longest text.', {
      number: phoneNumber('Its recipient.'),
      characters: count('The number of characters.', { example: 171 }),
      segments: count('The number of segments.', { minimum: 1, example: 2 }),
    }),
  ),
});
export interface CampaignQuote extends TypeOf<typeof CampaignQuote> {}

/** The SMS of a test. */
export const CampaignTest = object('The SMS of a test.', {
  smsID: identifier('The SMS.', EXAMPLE.message),
  content: text('The text of the SMS.', { example: 'Bonjour Awa, nos soldes commencent demain.' }),
  sms_units: count('What it cost.', { example: 1 }),
});
export interface CampaignTest extends TypeOf<typeof CampaignTest> {}

/** A recipient of a campaign. */
export const CampaignRecipient = object('A recipient of a campaign.', {
  number: shownNumber('The recipient.'),
  status: oneOf(RECIPIENT_STATUSES, 'The state.', { example: 'delivered' }),
  error: nullable(text('The error; null if there is none.')),
  smsID: nullable(identifier('The SMS; null as long as there is none.', EXAMPLE.message)),
  units: count('What it cost.', { example: 1 }),
  refunded_units: count('What was refunded.', { example: 0 }),
});
export interface CampaignRecipient extends TypeOf<typeof CampaignRecipient> {}

/** A page of recipients. Those that have become an SMS come first. */
export const CampaignRecipientPage = object('Recipients. Those that have become an SMS come first.', {
  items: list(ref<CampaignRecipient>({ CampaignRecipient })),
  next_cursor: nextCursor,
});
export interface CampaignRecipientPage extends TypeOf<typeof CampaignRecipientPage> {}

/** The answer to the removal of a draft. */
export const CampaignRemoved = object('The draft is removed.', { success: yes });
export interface CampaignRemoved extends TypeOf<typeof CampaignRemoved> {}
