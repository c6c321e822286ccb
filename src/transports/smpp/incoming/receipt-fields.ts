import { isKnownState } from './receipt-state.js';
import { receiptTime } from './receipt-time.js';

/** What the text of a receipt says (SMPP 3.4 appendix B), each as it stands there; undefined where the label is missing. */
export interface ReceiptFields {
  readonly id: string | undefined;
  readonly stat: string | undefined;
  readonly err: string | undefined;
  readonly doneDate: string | undefined;
}

const LABELS = 'id|sub|dlvrd|submit date|done date|stat|err|text';
// A value ends at white space or a comma; one that is empty must not take the label behind it for itself.
const FIELD = new RegExp(`(?:^|[\\s,;])(${LABELS})[ ]?:[ ]?((?!(?:${LABELS})[ ]?:)[^\\s,;]*)`, 'gi');
const LONGEST = 1024;

/**
 * Reads `id:… sub:… dlvrd:… submit date:… done date:… stat:… err:… text:…`, labels in any order and any case, any of them
 * missing. Behind `text:` stands the beginning of the message itself, which anybody may have written: what is found there
 * counts only where the label is not found before, and the last of it, since the carrier's own stands behind the message.
 */
export function receiptFields(text: string): ReceiptFields {
  const head = text.slice(0, LONGEST);
  const bodyAt = head.search(/(?:^|[\s,;])text ?:/i);
  // Later ones replace earlier ones in a Map.
  const before = new Map(fieldsOf(bodyAt < 0 ? head : head.slice(0, bodyAt)).reverse());
  const behind = new Map(bodyAt < 0 ? [] : fieldsOf(head.slice(bodyAt)));
  const field = (label: string) => before.get(label) ?? behind.get(label);
  return { id: field('id'), stat: field('stat'), err: field('err'), doneDate: field('done date') };
}

/** Appendix B as it is printed there; `err` and `text`, which follow, are left to {@link receiptFields}. */
const WHOLE =
  /^id:[!-~]{1,65} sub:\d{1,3} dlvrd:\d{1,3} submit date:(?<submitted>\d{10,12}) done date:(?<done>\d{10,12}) stat:(?<state>[A-Z]{5,13})(?: err:[!-~]{1,20})?(?: text:.*)?$/is;

/** Whether a text is a receipt and nothing else: all labels of appendix B in their order, each with a value that it allows. */
export function isReceiptText(text: string): boolean {
  const { submitted = '', done = '', state = '' } = WHOLE.exec(text.replace(/[\s\0]+$/, ''))?.groups ?? {};
  return isKnownState(state) && [submitted, done].every((date) => receiptTime(date, 0) !== undefined);
}

/** Labels and values in their order; empty ones left out. */
function fieldsOf(text: string): [label: string, value: string][] {
  const fields = [...text.matchAll(FIELD)].map(([, label = '', value = '']): [string, string] => [
    label.toLowerCase(),
    value,
  ]);
  return fields.filter(([, value]) => value !== '');
}
