import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cancellation } from '../../common/concurrency/async.js';
import { MessagingError } from '../../common/errors.js';
import { PersonalText, type Variables } from '../../common/text/personal-text.js';
import { isInvisible } from '../../common/text/visible-text.js';
import type { Recipient } from '../../outbox/accept/send.js';
import type { TextPayload } from '../../outbox/payload.js';
import { measure } from '../segmentation.js';
import type { SmsSettings } from '../sms-options.js';
import {
  type CheckedText,
  checkContent,
  checkSegments,
  checkText,
  MAX_CHARACTERS_PER_SEGMENT,
  priceRecipients,
} from '../sms-pricing.js';
import type { Addressees } from './addressees.js';
import { personalPayload } from './completed-text.js';

/** The priced recipients of a send, and the text to store. */
export interface PricedSend {
  readonly payload: TextPayload;
  readonly recipients: readonly Recipient[];
}

/** How many characters of personal texts are completed before the event loop may handle other requests. */
const YIELD_AFTER_CHARACTERS = 200_000;

const NO_VALUES: Variables = {};

/**
 * Reads a text with variables. A text without any is the same for all recipients, so it is returned with its doubled braces made
 * single.
 * @throws MessagingError `error.stray_brace`, and `error.too_many_segments` for a text that is far too long
 */
export function readPersonalText(content: string, settings: SmsSettings): PersonalText | string {
  // Reading takes time for each brace, of which a body may have millions.
  if (content.length > MAX_CHARACTERS_PER_SEGMENT * settings.maxSegments) {
    checkSegments(measure(content).segments, settings);
  }
  const text = PersonalText.parse(content);
  if (!(text instanceof PersonalText)) throw new MessagingError('error.stray_brace', { position: text.position });
  return text.variables.length === 0 ? text.complete(NO_VALUES) : text;
}

/** The text of a send: as it was given, with the variables if it may have some. */
export interface SendText {
  readonly content: string;
  /** False: braces have no meaning. */
  readonly mayBePersonal: boolean;
}

/**
 * Splits and prices the texts of all recipients.
 * @throws MessagingError `error.stray_brace`, `error.variable_missing` for the first recipient without a value,
 * `error.empty_message`, `error.unsendable_character`, `error.too_many_segments`
 */
export async function priceSend(
  { content, mayBePersonal }: SendText,
  addressees: Addressees,
  settings: SmsSettings,
  signal?: Cancellation,
): Promise<PricedSend> {
  const text = mayBePersonal ? readPersonalText(content, settings) : content;
  if (typeof text === 'string') {
    const { text: sent, segments } = checkText(checkContent(text), settings);
    const recipients = await priceRecipients(addressees.numbers, segments, settings);
    return { payload: { kind: 'text', text: sent }, recipients };
  }
  const recipients: Recipient[] = [];
  await eachText(text, addressees, settings, signal, (number, vars, { segments }) => {
    recipients.push({ number, units: segments * settings.tariff.unitsFor(number), vars });
  });
  return { payload: personalPayload(content, settings.transliterate), recipients };
}

/**
 * Completes and splits the text of each recipient, and passes it to `take` with the values that it uses.
 * @param signal ends the work between two recipients with its reason
 * @throws MessagingError as {@link priceSend}
 */
export async function eachText(
  text: PersonalText,
  { numbers, vars = [] }: Addressees,
  settings: SmsSettings,
  signal: Cancellation | undefined,
  take: (number: string, vars: Variables, checked: CheckedText) => void,
): Promise<void> {
  // A missing value is the caller's most likely mistake, so it is reported before all others.
  for (let index = 0; index < numbers.length; index++) {
    const variable = text.missingIn(vars[index] ?? NO_VALUES);
    if (variable !== undefined) {
      throw new MessagingError('error.variable_missing', { number: numbers[index] ?? '', variable });
    }
  }
  // Most texts have words of their own, so they are never empty.
  const isNeverEmpty = !isInvisible(text.commonText);
  let characters = 0;
  for (let index = 0; index < numbers.length; index++) {
    const values = text.usedOf(vars[index] ?? NO_VALUES);
    const completed = text.complete(values);
    const checked = checkText(isNeverEmpty ? completed : checkContent(completed), settings);
    take(numbers[index] ?? '', values, checked);
    characters += completed.length;
    if (characters < YIELD_AFTER_CHARACTERS) continue;
    characters = 0;
    await nextTurn();
    if (signal?.aborted) throw signal.reason;
  }
}
