import { OPT_OUT_SOURCES } from '../../events/events.api.js';
import {
  count,
  EXAMPLE,
  identifier,
  moment,
  object,
  oneOf,
  page,
  shownNumber,
  text,
  yes,
} from '../../schemas/builders.js';
import { type TypeOf } from '../../schemas/schema.js';

export const SIGNATURE = text('The sender name under which the numbers get no SMS.', { example: 'INFOS' });

/** An entry of the suppression list in answers of the API. */
export const OptOutView = object('A number that gets no SMS under a sender name.', {
  id: identifier('The entry.', EXAMPLE.message),
  number: shownNumber('The number. Only stars if it was erased.'),
  signature: SIGNATURE,
  source: oneOf(OPT_OUT_SOURCES, 'A text from the phone, or a person or program.'),
  added_at: moment('When it was added.'),
});
export interface OptOutView extends TypeOf<typeof OptOutView> {}

/** A page of entries, the newest first. */
export const OptOutPage = page<OptOutView>('Entries, the newest first.', { OptOut: OptOutView });
export interface OptOutPage extends TypeOf<typeof OptOutPage> {}

/** The answer to an addition. */
export const OptOutsAdded = object('The numbers are on the list.', {
  added: count('How many numbers were not on the list before.', { example: 1 }),
});
export interface OptOutsAdded extends TypeOf<typeof OptOutsAdded> {}

/** The answer to a removal. */
export const OptOutRemoved = object('The entry is removed.', { success: yes });
