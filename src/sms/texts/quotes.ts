import type { Recipient } from '../../outbox/accept/send.js';
import { notGsm7 } from '../segmentation.js';
import type { SmsQuote } from '../sms.api.js';
import type { SmsSettings } from '../sms-options.js';
import { type CheckedText, checkContent, checkText, priceRecipients, unitsOf } from '../sms-pricing.js';
import type { Addressees } from './addressees.js';
import { eachText, readPersonalText } from './send-text.js';

/** The price of one text for all recipients. */
export function quoteOf({ text, size }: CheckedText, recipients: readonly Recipient[]): SmsQuote {
  const { encoding, segments, characters } = size;
  return {
    encoding,
    segments,
    characters,
    units_per_recipient: recipients,
    sms_units: unitsOf(recipients),
    not_gsm7: notGsm7(text),
  };
}

/**
 * Returns the price of texts that differ by recipient.
 * @throws MessagingError the errors of `priceSend`
 */
export async function quotePersonal(content: string, addressees: Addressees, settings: SmsSettings): Promise<SmsQuote> {
  const text = readPersonalText(content, settings);
  const quote = new PersonalQuote();
  if (typeof text === 'string') {
    const checked = checkText(checkContent(text), settings);
    const recipients = await priceRecipients(addressees.numbers, checked.segments, settings);
    for (const recipient of recipients) quote.add(recipient, checked);
  } else {
    await eachText(text, addressees, settings, undefined, (number, _, checked) => {
      quote.add({ number, units: checked.segments * settings.tariff.unitsFor(number) }, checked);
    });
  }
  return quote.result();
}

/** Adds up the prices of texts. */
class PersonalQuote {
  private readonly recipients: { number: string; units: number }[] = [];
  private readonly bySegments = new Map<number, { recipients: number; units: number }>();
  private readonly notGsm7 = new Set<string>();
  private longest = { number: '', characters: 0, segments: 0 };
  private lastText: string | undefined;

  add({ number, units }: Recipient, { text, segments, size }: CheckedText): void {
    this.recipients.push({ number, units });
    const same = this.bySegments.get(segments) ?? { recipients: 0, units: 0 };
    this.bySegments.set(segments, { recipients: same.recipients + 1, units: same.units + units });
    // Without variables, all texts are one and the same.
    if (text === this.lastText) return;
    this.lastText = text;
    const { characters } = size;
    const isLonger = segments - this.longest.segments || characters - this.longest.characters;
    if (isLonger > 0) this.longest = { number, characters, segments };
    if (size.encoding === 'UCS-2') for (const character of notGsm7(text)) this.notGsm7.add(character);
  }

  result(): SmsQuote {
    const { recipients, longest } = this;
    return {
      encoding: this.notGsm7.size > 0 ? 'UCS-2' : 'GSM-7',
      segments: longest.segments,
      characters: longest.characters,
      units_per_recipient: recipients,
      sms_units: unitsOf(recipients),
      not_gsm7: [...this.notGsm7],
      distribution: [...this.bySegments]
        .sort(([a], [b]) => a - b)
        .map(([segments, { recipients, units }]) => ({ segments, recipients, units })),
      longest,
    };
  }
}
