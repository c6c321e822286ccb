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

/** Labels and values in their order; empty ones left out. */
function fieldsOf(text: string): [label: string, value: string][] {
  const fields = [...text.matchAll(FIELD)].map(([, label = '', value = '']): [string, string] => [
    label.toLowerCase(),
    value,
  ]);
  return fields.filter(([, value]) => value !== '');
}
