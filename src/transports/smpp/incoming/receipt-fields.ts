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
 * counts only where the label is not found before.
 */
export function receiptFields(text: string): ReceiptFields {
  const head = text.slice(0, LONGEST);
  const bodyAt = head.search(/(?:^|[\s,;])text ?:/i);
  const before = fieldsOf(bodyAt < 0 ? head : head.slice(0, bodyAt));
  const behind = bodyAt < 0 ? before : fieldsOf(head.slice(bodyAt));
  const field = (label: string) => before.get(label) ?? behind.get(label);
  return { id: field('id'), stat: field('stat'), err: field('err'), doneDate: field('done date') };
}

/** The first value of each label; of an empty one none. */
function fieldsOf(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [, label = '', value = ''] of text.matchAll(FIELD)) {
    const name = label.toLowerCase();
    if (value !== '' && !fields.has(name)) fields.set(name, value);
  }
  return fields;
}
