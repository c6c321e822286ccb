import { computed } from '@preact/signals';
import { PersonalText } from '../../../../common/text/personal-text.js';
import { draft } from './draft.js';
import { numberColumnOf, readTable, recipientsOf } from './table.js';

// The recipients of a draft with a text for each. Each step is computed again only if what it needs has changed, because a table
// may have 100 000 rows.

// A file that is too large has no text. The pasted table stays out, because the screen does not show it.
const source = computed(() => (draft.value.file ? (draft.value.file.text ?? '') : draft.value.pasted));
/** The table of the draft. */
export const table = computed(() => readTable(source.value));
const guessed = computed(() => numberColumnOf(table.value));
/** The place of the column with the numbers. */
export const column = computed(() => Math.min(draft.value.column ?? guessed.value, table.value.names.length - 1));

/** The text of the draft as the service reads it. */
export const personalText = computed(() => PersonalText.parse(draft.value.text));
const used = computed(() => (personalText.value instanceof PersonalText ? personalText.value.variables.join() : ''));

/** The recipients with their values. */
export const tableRecipients = computed(() =>
  recipientsOf(table.value, column.value, used.value === '' ? [] : used.value.split(',')),
);

/** The recipients' numbers, in the same order. */
export const tableNumbers = computed(() => tableRecipients.value.to.map(({ number }) => number));

/** The variables of the text that no column has. */
export const unknownNames = computed(() =>
  used.value.split(',').filter((name) => name !== '' && !table.value.names.includes(name)),
);
