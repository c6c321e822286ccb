import { list, nullable, object, text } from '../../schemas/builders.js';
import { type Schema, schemaOf, type TypeOf } from '../../schemas/schema.js';

/** The zone of a window that means: all time zones of the recipient's country. */
export const RECIPIENT_ZONE = 'recipient';

/** The ISO weekdays: 1 is Monday, 7 is Sunday. */
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;

/** A time of day in a window. */
export const TIME_OF_DAY = '^([01]\\d|2[0-3]):[0-5]\\d$';

const timeOfDay = (description: string, example: string) => text(description, { pattern: TIME_OF_DAY, example });

const FROM = 'When it opens: `HH:MM`, from 00:00 to 23:59.';
const TO =
  'When it closes: `HH:MM`, not equal to `from`. A time before `from` is on the next day, and the window then belongs to the day on which it opens.';
const DAYS = 'The days on which it opens, as ISO weekdays: 1 is Monday, 7 is Sunday. Default: all.';
const ZONE =
  'An IANA time zone, or `recipient` (default): the zones of the country of the recipient’s number. If there are several, only moments inside the window in every one of them count.';

const weekdays: Schema = { minItems: 1, maxItems: 7, uniqueItems: true, example: [1, 2, 3, 4, 5] };

const FIELDS = {
  from: timeOfDay(FROM, '08:00'),
  to: timeOfDay(TO, '20:00'),
  days: list(schemaOf<number>({ type: 'integer', minimum: 1, maximum: 7 }), { ...weekdays, description: DAYS }),
  zone: text(ZONE, { example: RECIPIENT_ZONE }),
};

/** The times at which messages may be handed over. */
export const DeliveryWindow = object('The times of day and the days on which the message may be handed over.', FIELDS);
export interface DeliveryWindow extends TypeOf<typeof DeliveryWindow> {}

/** A window in a request. */
export const GivenWindow = nullable(
  object(
    'The times of day and the weekdays at which it may be handed over. Null: at any time, even if the service has a default.',
    FIELDS,
    ['days', 'zone'],
  ),
);

/** A window as a caller gives it. `days` and `zone` have defaults. */
export interface WindowInput {
  /** When it opens, `HH:MM`. */
  readonly from: string;
  /** When it closes, `HH:MM`. A time before `from` is on the next day. It must not be equal to `from`. */
  readonly to: string;
  /** ISO weekdays on which it opens, 1 is Monday. Default: all. */
  readonly days?: readonly number[] | undefined;
  /** `recipient` (the zones of the number's country) or the name of an IANA time zone. Default `recipient`. */
  readonly zone?: string | undefined;
}
