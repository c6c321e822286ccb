import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessagingError } from '../common/errors.js';
import { checkNumberText, checkString } from '../common/inputs.js';
import { phoneOf } from '../common/phone-numbers/phone-spellings.js';
import { isInvisible } from '../common/text/visible-text.js';
import type { Recipient } from '../outbox/accept/send.js';
import { measure, unsendable } from './segmentation.js';
import type { SmsSettings } from './sms-options.js';
import { transliteratePunctuation } from './transliteration.js';

/**
 * Returns the content as a text that is not empty.
 * @throws MessagingError `error.empty_message` for a text without a visible character, `error.field_not_string`
 */
export function checkContent(content: string | null | undefined): string {
  const text = content ?? '';
  checkString('content', text);
  if (isInvisible(text)) throw new MessagingError('error.empty_message');
  return text;
}

/** A text with more characters per allowed segment is not transliterated, because it would be too long in GSM-7 too. */
const TRANSLITERATED_PER_SEGMENT = 1000;

/** A text that can be sent, with its number of segments. */
interface CheckedText {
  readonly text: string;
  readonly segments: number;
}

/** The number of recipients after which the event loop may handle other requests. */
const YIELD_AFTER = 1000;

/**
 * Transliterates, measures and checks a text.
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
 * Returns the numbers of distinct phones in the order of their first appearance. Two spellings of one phone's number are one
 * recipient.
 * @throws MessagingError `error.invalid_number` for the first invalid number, `error.numbers_not_strings` for another type,
 * `error.field_not_list` for an empty list or another value, `error.too_many_recipients`
 */
export async function checkNumbers(numbers: readonly string[], settings: SmsSettings): Promise<readonly string[]> {
  const max = settings.maxRecipients;
  if (!Array.isArray(numbers) || numbers.length === 0) {
    throw new MessagingError('error.field_not_list', { field: 'number' });
  }
  if (numbers.length > max) throw new MessagingError('error.too_many_recipients', { count: numbers.length, max });
  const phones = new Set<string>();
  const distinct: string[] = [];
  for (const [index, number] of numbers.entries()) {
    if (phones.has(number)) continue;
    checkNumberText('number', number);
    settings.recipients.check(number);
    const phone = phoneOf(number);
    if (phones.has(phone)) continue;
    phones.add(phone);
    distinct.push(number);
    if (index % YIELD_AFTER === YIELD_AFTER - 1) await nextTurn();
  }
  if (distinct.length >= YIELD_AFTER) await nextTurn();
  return distinct;
}

/** Returns the numbers with their prices. */
export async function priceRecipients(
  numbers: readonly string[],
  segments: number,
  { tariff }: SmsSettings,
): Promise<readonly Recipient[]> {
  const recipients = numbers.map((number) => ({ number, units: segments * tariff.unitsFor(number) }));
  if (recipients.length >= YIELD_AFTER) await nextTurn();
  return recipients;
}
