import { MessagingError } from '../common/errors.js';
import { checkNumber, checkString } from '../common/inputs.js';
import type { Recipient } from '../outbox/send.js';
import { measure, unsendable } from './segmentation.js';
import type { SmsSettings } from './sms-options.js';
import { transliteratePunctuation } from './transliteration.js';

/** @throws MessagingError `error.empty_message` for no text, or one of white space only, `error.field_not_string` */
export function checkContent(content: string | null | undefined): string {
  const text = content ?? '';
  checkString('content', text);
  if (text.trim() === '') throw new MessagingError('error.empty_message');
  return text;
}

/** A text with more characters for each segment it may have stays as it is: no punctuation makes it that much shorter. */
const TRANSLITERATED_PER_SEGMENT = 1000;

/** A text that may be sent, and how many segments it takes. */
export interface CheckedText {
  readonly text: string;
  readonly segments: number;
}

/** From so many recipients on, other requests get their turn in between. */
const MANY = 1000;

/**
 * Makes a content ready to be priced (contract section 3).
 * @throws MessagingError `error.unsendable_character`, `error.too_many_segments`
 */
export function checkText(content: string, settings: SmsSettings): CheckedText {
  const isShort = content.length <= TRANSLITERATED_PER_SEGMENT * settings.maxSegments;
  const text = isShort && settings.transliterate === 'punctuation' ? transliteratePunctuation(content) : content;
  const { encoding, segments } = measure(text);
  if (segments > settings.maxSegments) {
    throw new MessagingError('error.too_many_segments', { segments, max: settings.maxSegments });
  }
  const character = encoding === 'UCS-2' ? unsendable(text) : undefined;
  if (character !== undefined) throw new MessagingError('error.unsendable_character', { character });
  return { text, segments };
}

/**
 * The numbers without repeats, in first-seen order.
 * @throws MessagingError `error.invalid_number` for the first that is none, `error.field_not_list` without any,
 *   `error.too_many_recipients`
 */
export async function checkNumbers(numbers: readonly string[], settings: SmsSettings): Promise<readonly string[]> {
  const max = settings.maxRecipients;
  if (!Array.isArray(numbers) || numbers.length === 0) {
    throw new MessagingError('error.field_not_list', { field: 'number' });
  }
  if (numbers.length > max) throw new MessagingError('error.too_many_recipients', { count: numbers.length, max });
  const distinct = numbers.length === 1 ? numbers : [...new Set(numbers)];
  for (const [index, number] of distinct.entries()) {
    checkNumber(number, settings.strictNumbers);
    if (settings.strictNumbers && index % MANY === MANY - 1) await otherRequests();
  }
  if (distinct.length >= MANY) await otherRequests();
  return distinct;
}

/** Each number with its price. */
export async function priceRecipients(
  numbers: readonly string[],
  segments: number,
  { tariff }: SmsSettings,
): Promise<readonly Recipient[]> {
  const recipients = numbers.map((number) => ({ number, units: segments * tariff.unitsFor(number) }));
  if (recipients.length >= MANY) await otherRequests();
  return recipients;
}

function otherRequests(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
