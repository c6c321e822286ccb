import { PersonalText, type Variables } from '../../common/text/personal-text.js';
import type { PersonalPayload } from '../../outbox/payload.js';
import type { Transliteration } from '../transliteration.js';
import { transliteratePunctuation } from '../transliteration.js';

/** Makes the payload of a personal text. */
export function personalPayload(text: string, transliterate: Transliteration): PersonalPayload {
  return { kind: 'text', text, personal: transliterate };
}

/** Completes the text of one recipient. Undefined if the recipient's values were removed. */
export type CompleteText = (values: Variables | undefined) => string | undefined;

/**
 * Returns how the texts of a stored message are completed. They come out as they were when the send was accepted and charged, even
 * if the option `transliterate` has changed since.
 */
export function completerOf({ text, personal }: PersonalPayload): CompleteText {
  const read = PersonalText.parse(text);
  return (values) => {
    if (values === undefined || !(read instanceof PersonalText)) return undefined;
    const completed = read.complete(values);
    return personal === 'punctuation' ? transliteratePunctuation(completed) : completed;
  };
}
