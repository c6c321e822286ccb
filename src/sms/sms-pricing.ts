import { setImmediate as nextTurn } from 'node:timers/promises';
import { MessagingError } from '../common/errors.js';
import { checkString } from '../common/inputs.js';
import { isInvisible } from '../common/text/visible-text.js';
import type { Recipient } from '../outbox/accept/send.js';
import { type Measurement, measure, unsendable } from './segmentation.js';
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

/**
 * A text with more characters per allowed segment is too long in every alphabet. It is not read any further: not transliterated,
 * and its variables are not looked for.
 */
export const MAX_CHARACTERS_PER_SEGMENT = 1000;

/** A text that can be sent, with its number of segments. */
export interface CheckedText {
  readonly text: string;
  readonly segments: number;
  readonly size: Measurement;
}

/** The number of recipients after which the event loop may handle other requests. */
const YIELD_AFTER = 1000;

/**
 * Transliterates, measures and checks a text.
 * @throws MessagingError `error.unsendable_character`, `error.too_many_segments`
 */
export function checkText(content: string, settings: SmsSettings): CheckedText {
  const isShort = content.length <= MAX_CHARACTERS_PER_SEGMENT * settings.maxSegments;
  const text = isShort && settings.transliterate === 'punctuation' ? transliteratePunctuation(content) : content;
  const size = measure(text);
  const { encoding, segments } = size;
  checkSegments(segments, settings);
  const character = encoding === 'UCS-2' ? unsendable(text) : undefined;
  if (character !== undefined) throw new MessagingError('error.unsendable_character', { character });
  return { text, segments, size };
}

/** @throws MessagingError `error.too_many_segments` */
export function checkSegments(segments: number, { maxSegments: max }: SmsSettings): void {
  if (segments > max) throw new MessagingError('error.too_many_segments', { segments, max });
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

/** The units of all recipients together. */
export function unitsOf(recipients: readonly Recipient[]): number {
  let units = 0;
  for (const recipient of recipients) units += recipient.units;
  return units;
}
